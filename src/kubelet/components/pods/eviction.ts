/** The usage of the node, and evictions when it runs short of something. */
import { parseDurationMs } from '../../../lib/duration.ts'
import { EvictionManager } from '../../eviction/eviction-manager.ts'
import { NodePressure } from '../../eviction/node-pressure.ts'
import { parseThresholds } from '../../eviction/thresholds.ts'
import { volumeMetrics } from '../../metrics/volume-metrics.ts'
import { UsageCollector } from '../../stats/usage/usage-collector.ts'
import { component, nodeReference } from '../parts.ts'

export const usage = component({
  name: 'usage',
  needs: ['options', 'registry', 'runtime', 'criImages', 'node', 'cgroups', 'csi'],
  gives: ['usage', 'pressure'],
  start({ options: { configuration, root, podLogs, log }, registry, runtime, criImages, node, cgroups, csi }) {
    // A negative period turns measurements of volumes off.
    const folderMs = parseDurationMs(configuration.volumeStatsAggPeriod) ?? 0
    const usage = new UsageCollector({
      runtime,
      images: criImages,
      nodeName: node.name,
      root,
      cgroupFolder: '/sys/fs/cgroup',
      proc: '/proc',
      podsCgroup: cgroups.rootPath,
      podLogs,
      driverVolumes: (uid) => csi.stats.of(uid),
      ...(folderMs !== 0 && { folderMs: folderMs < 0 ? Number.POSITIVE_INFINITY : folderMs }),
      log,
      now: Date.now,
    })
    volumeMetrics(registry, () => usage.claims)
    return { usage, pressure: new NodePressure() }
  },
})

export const eviction = component({
  name: 'eviction',
  needs: [
    'options',
    'metrics',
    'usage',
    'pressure',
    'admission',
    'workers',
    'registration',
    'containerCollector',
    'images',
    'recorder',
    'events',
    'node',
    'schedule',
  ],
  gives: ['evictions'],
  start({ options: { configuration, log }, metrics, usage, pressure, workers, images, schedule, ...parts }, lifetime) {
    const { evictionHard, evictionSoft = {}, evictionSoftGracePeriod = {}, evictionMinimumReclaim = {} } = configuration
    const { admission, registration, containerCollector, recorder, events, node } = parts
    const evictions = new EvictionManager({
      thresholds: parseThresholds({ evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim }),
      transitionMs: parseDurationMs(configuration.evictionPressureTransitionPeriod) ?? 300_000,
      maxGraceSeconds: configuration.evictionMaxPodGracePeriod ?? 0,
      limitsStorage: configuration.localStorageCapacityIsolation,
      now: Date.now,
      log,
      schedule,
      collectUsage: () => usage.collectMeasured(),
      activePods: () => workers.active,
      setConditions: (conditions) => {
        if (pressure.set(conditions)) registration.report()
      },
      terminate: ({ metadata: { uid = '' } }, graceSeconds, status) => workers.terminate(uid, { graceSeconds, status }),
      removeUnusedContainers: () => containerCollector.removeUnused(),
      removeUnusedImages: () => images.removeUnused(),
      countEviction: (signal) => metrics.evictions([signal]).add(),
      observeAge: (signal, ms) => metrics.evictionStatsAge([signal]).observe(ms / 1000),
      record(subject, reason, message, annotations) {
        if (subject === 'node') recorder.record(nodeReference(node), 'Warning', reason, message, node.name)
        else events.ofPod(subject, 'Warning', reason, message, annotations)
      },
    })
    admission.add((pod) => pressure.check(pod))
    lifetime.onEnd(() => evictions.stop())
    return { evictions }
  },
})
