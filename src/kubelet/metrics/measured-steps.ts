/** Measures the steps of pods: how long syncs take, and how long a pod takes from its creation until it runs. */
import type { Pod, PodStatus } from '../pod-types.ts'
import { specOf } from '../pod-types.ts'
import type { PodSteps } from '../workers/pod-worker.ts'
import type { KubeletMetrics } from './kubelet-metrics.ts'

export interface MeasuredStepsOptions {
  readonly metrics: KubeletMetrics
  /** The newest status of a pod. */
  readonly statusOf: (uid: string) => PodStatus | undefined
  /** The time that a pod's pulls have taken, in ms. */
  readonly pullMs: (uid: string) => number
  readonly now: () => number
}

interface Start {
  readonly seen: number
  isRunning: boolean
  isComplete: boolean
}

/** Wraps the steps. A pod that runs already, as after a restart of the kubelet, counts as no start. */
export function measuredSteps(steps: PodSteps, { metrics, statusOf, pullMs, now }: MeasuredStepsOptions): PodSteps {
  const starts = new Map<string, Start>()
  const first = (pod: Pod, seen: number): Start => {
    const isOld = pod.status?.startTime !== undefined
    metrics.containersPerPod.observe(specOf(pod).containers.length)
    metrics.workerStart.observe(0)
    return { seen, isRunning: isOld, isComplete: isOld }
  }
  const observeStart = (pod: Pod, start: Start): void => {
    const uid = pod.metadata.uid ?? ''
    const status = statusOf(uid)
    if (!start.isRunning && status?.phase === 'Running') {
      start.isRunning = true
      metrics.podStart.observe((now() - start.seen) / 1000)
    }
    if (start.isComplete || !hasStarted(pod, status)) return
    start.isComplete = true
    const ms = now() - Date.parse(String(pod.metadata.creationTimestamp ?? new Date(start.seen).toISOString()))
    metrics.podStartTotal.observe(ms / 1000)
    metrics.podStartWithoutPulls.observe(Math.max(0, ms - pullMs(uid)) / 1000)
  }
  return {
    ...bound(steps),
    async sync(pod) {
      const began = now()
      const uid = pod.metadata.uid ?? ''
      const known = starts.get(uid)
      const start = known ?? first(pod, began)
      starts.set(uid, start)
      try {
        const result = await steps.sync(pod)
        observeStart(pod, start)
        return result
      } finally {
        metrics.workerDuration([known ? 'sync' : 'create']).observe((now() - began) / 1000)
      }
    },
    async cleanUp(pod, termination) {
      await steps.cleanUp(pod, termination)
      starts.delete(pod.metadata.uid ?? '')
    },
  }
}

const bound = (steps: PodSteps): PodSteps => ({
  sync: (pod) => steps.sync(pod),
  interrupt: (pod) => steps.interrupt(pod),
  terminate: (pod, termination, signal) => steps.terminate(pod, termination, signal),
  cleanUp: (pod, termination) => steps.cleanUp(pod, termination),
})

/** True if all containers of the spec run or have run. */
function hasStarted(pod: Pod, status: PodStatus | undefined): boolean {
  const states = status?.containerStatuses ?? []
  const { containers } = specOf(pod)
  return (
    containers.length > 0 &&
    containers.every(({ name }) =>
      states.some((one) => one.name === name && (one.state?.running || one.state?.terminated)),
    )
  )
}
