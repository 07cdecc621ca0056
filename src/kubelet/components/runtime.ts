/** The container runtime, and what changes in it. */
import { parseDurationMs } from '../../lib/duration.ts'
import { CriImages } from '../cri/images.ts'
import { CriRuntime } from '../cri/runtime.ts'
import { listMetrics } from '../metrics/list-metrics.ts'
import { PullTimes } from '../metrics/pull-times.ts'
import { runtimeObserver } from '../metrics/runtime-observer.ts'
import { RuntimeChanges } from '../pods/runtime-changes.ts'
import { RuntimeHealth } from '../registration/runtime-health.ts'
import { PodSignals } from '../workers/pod-signals.ts'
import { component } from './parts.ts'

/** Rejects if the runtime does not answer. */
export const runtime = component({
  name: 'runtime',
  needs: ['options', 'metrics', 'registry', 'verbosity', 'schedule'],
  gives: ['pulls', 'runtime', 'criImages', 'runtimeName', 'health', 'changes', 'signals'],
  async start({ options: { configuration, log }, metrics, registry, verbosity, schedule }, lifetime) {
    const { containerRuntimeEndpoint, imageServiceEndpoint = containerRuntimeEndpoint } = configuration
    const observe = runtimeObserver(metrics, verbosity)
    const timeoutMs = parseDurationMs(configuration.runtimeRequestTimeout)
    const runtime = new CriRuntime(containerRuntimeEndpoint, { observe, timeoutMs })
    lifetime.onEnd(() => runtime.close())
    const pulls: PullTimes = new PullTimes({
      metrics,
      sizeOf: async (image) => Number((await criImages.find(image).catch(() => undefined))?.size ?? 0),
    })
    const criImages = new CriImages(imageServiceEndpoint, {
      timeoutMs,
      observe(call) {
        observe(call)
        pulls.observe(call)
      },
    })
    lifetime.onEnd(() => criImages.close())
    const { runtimeName, runtimeVersion } = await runtime.version()
    const health = new RuntimeHealth({ runtime, version: `${runtimeName}://${runtimeVersion}` })
    await health.check()
    const signals = new PodSignals()
    const lists = listMetrics(registry, metrics)
    const changes = new RuntimeChanges({
      runtime,
      log,
      now: Date.now,
      schedule,
      changed: ({ uid }) => signals.changed(uid),
      differs: ({ uid }) => signals.runtimeChanged(uid),
      compared: lists.compared,
      connected: () => metrics.eventConnections.add(),
      disconnected: () => metrics.eventConnectionErrors.add(),
    })
    lifetime.onEnd(() => changes.stop())
    return { pulls, runtime, criImages, runtimeName, health, changes, signals }
  },
})
