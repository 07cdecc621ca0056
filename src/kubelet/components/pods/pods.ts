/** The pods of this node: probes, volumes, and a worker for each. */
import { readFile } from 'node:fs/promises'
import { FeatureGates } from '../../../api/features/feature-gates.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { parseDurationMs } from '../../../lib/duration.ts'
import type { KubeletConfiguration } from '../../configuration/defaults.ts'
import { type BackOffLimits, restartBackOff } from '../../containers/back-off.ts'
import { measuredSteps } from '../../metrics/measured-steps.ts'
import { workloadMetrics } from '../../metrics/workload-metrics.ts'
import { PodRuntime } from '../../pod-runtime.ts'
import { specOf } from '../../pod-types.ts'
import { ProbeManager } from '../../probes/probe-manager.ts'
import { ProbeMetrics } from '../../probes/probe-metrics.ts'
import { Prober } from '../../probes/prober.ts'
import { MirrorPods } from '../../sources/mirror-pods.ts'
import { isStatic } from '../../sources/static-pods/annotations.ts'
import { kubeletVolumes } from '../../volumes/kubelet-volumes.ts'
import { PodWorkers } from '../../workers/pod-workers.ts'
import { component, type KubeletParts, nodeReference } from '../parts.ts'

export const probes = component({
  name: 'probes',
  needs: ['runtime', 'events', 'node', 'signals', 'schedule'],
  gives: ['probes', 'probeMetrics'],
  start({ runtime, events, node, signals, schedule }, lifetime) {
    const probeMetrics = new ProbeMetrics()
    const probes = new ProbeManager({
      prober: new Prober({ runtime, events }),
      metrics: probeMetrics,
      now: Date.now,
      random: Math.random,
      schedule,
      kubeletStart: Date.now(),
      hostIp: () => node.ips[0] ?? '',
      onChange: ({ metadata }) => signals.changed(metadata.uid ?? ''),
    })
    lifetime.onEnd(() => probes.stop())
    return { probes, probeMetrics }
  },
})

export const volumes = component({
  name: 'volumes',
  needs: ['options', 'client', 'events', 'images', 'node', 'registration', 'handlers', 'csi'],
  gives: ['volumes', 'addresses'],
  async start({ options: { root, log }, client, events, images, node, registration, handlers, csi }) {
    const addresses = new Map<string, readonly string[]>()
    const volumes = await kubeletVolumes({
      client,
      root,
      log,
      now: Date.now,
      random: Math.random,
      node: () => registration.node ?? { metadata: { name: node.name } },
      fieldSources(pod) {
        const podIps = specOf(pod).hostNetwork ? node.ips : (addresses.get(pod.metadata.uid ?? '') ?? [])
        return { podIps, hostIps: node.ips, nodeName: node.name }
      },
      record: (pod, { type, reason, message }) => events.ofPod(pod, type, reason, message),
      image: async (pod, { reference, pullPolicy }) => (await images.ensureVolume(pod, reference, pullPolicy, {})).id,
      canMountRecursivelyReadOnly: (pod) => handlers.canMountRecursivelyReadOnly(pod),
      hasSelinux: false,
      csi,
    })
    return { volumes, addresses }
  },
})

export const workers = component({
  name: 'pod workers',
  needs: [
    'options',
    'client',
    'metrics',
    'registry',
    'pulls',
    'runtime',
    'runtimeName',
    'images',
    'health',
    'handlers',
    'userNamespaces',
    'signals',
    'changes',
    'events',
    'recorder',
    'node',
    'registration',
    'ownNode',
    'services',
    'desired',
    'status',
    'probes',
    'volumes',
    'addresses',
    'logLinks',
    'cgroups',
    'nodeResources',
    'allocations',
    'resizes',
    'resizeConditions',
    'containerCollector',
    'schedule',
  ],
  gives: ['workers', 'podRuntime', 'mirrors'],
  async start(
    { options, health, signals, changes, recorder, node, registration, ownNode, services, desired, schedule, ...parts },
    lifetime,
  ) {
    const { configuration, root, podLogs, log } = options
    const warnOfNode = (reason: string, message: string): void =>
      recorder.record(nodeReference(node), 'Warning', reason, message, node.name)
    const podRuntime = new PodRuntime({
      ...parts,
      root,
      podLogs,
      log,
      node,
      seccompDefault: configuration.seccompDefault,
      restartLimits: restartLimits(configuration),
      dns: {
        clusterDns: configuration.clusterDNS,
        clusterDomain: configuration.clusterDomain,
        resolvConf: configuration.resolvConf ? await readFile(configuration.resolvConf, 'utf8').catch(() => '') : '',
      },
      warnOfNode,
      countFallback: () => parts.metrics.httpFallbacks.add(),
      services: () => [...services.all()],
      networkProblem: () => health.networkProblem,
      nodeObject: () => ownNode.get('', node.name) ?? registration.node,
      now: Date.now,
      settle: (pod) => changes.settle(pod),
      trim: (pod) => parts.containerCollector.trim(pod),
    })
    const steps = measuredSteps(podRuntime.steps, measures(parts))
    const workers = new PodWorkers({
      steps,
      log,
      schedule,
      onFinish(pod) {
        const uid = pod.metadata.uid ?? ''
        // A static pod that has come back with its UID begins with a new status.
        if (!desired.find(uid) || workers.has(uid)) parts.status.forget(uid)
        if (isStatic(pod)) mirrors.reconcile(keyOf(pod))
        parts.containerCollector.podEnded(uid)
      },
    })
    const mirrors = mirrorPods({ options, client: parts.client, desired, registration, schedule }, workers)
    lifetime.onEnd(() => mirrors.stop())
    workloadMetrics(parts.registry, workers)
    lifetime.onEnd(() => workers.stop())
    signals.listen({ changed: (uid) => workers.wake(uid), runtimeChanged: (uid) => workers.runtimeChanged(uid) })
    return { workers, podRuntime, mirrors }
  },
})

function restartLimits({ crashLoopBackOff, featureGates }: KubeletConfiguration): BackOffLimits {
  const { maxContainerRestartPeriod: period } = crashLoopBackOff
  const isReduced = new FeatureGates(featureGates).isEnabled('ReduceDefaultCrashLoopBackOffDecay')
  return restartBackOff(period === undefined ? undefined : parseDurationMs(period), isReduced)
}

const measures = ({ metrics, pulls, status }: Pick<KubeletParts, 'metrics' | 'pulls' | 'status'>) => ({
  metrics,
  statusOf: (uid: string) => status.statusOf(uid),
  pullMs: (uid: string) => pulls.ofPod(uid),
  now: Date.now,
})

type MirrorSources = Pick<KubeletParts, 'options' | 'client' | 'desired' | 'registration' | 'schedule'>

const mirrorPods = (
  { options, client, desired, registration, schedule }: MirrorSources,
  workers: Pick<PodWorkers, 'pods'>,
): MirrorPods =>
  new MirrorPods({
    client,
    desired,
    node: () => registration.node,
    isRunning: (key) => workers.pods.some((pod) => isStatic(pod) && keyOf(pod) === key),
    log: options.log,
    schedule,
  })
