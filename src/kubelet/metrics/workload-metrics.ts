/** Gauges of the pods that the kubelet has to run, and of their states. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { isTerminal, type Pod, specOf, statusOf } from '../pod-types.ts'
import { isStatic } from '../sources/static-pods/annotations.ts'
import type { WorkerState } from '../workers/pod-worker.ts'
import type { PodWorkers } from '../workers/pod-workers.ts'

const lifecycles: Readonly<Record<WorkerState, string>> = {
  syncing: 'sync',
  terminating: 'terminating',
  terminated: 'terminated',
  finished: 'terminated',
}

export function workloadMetrics(registry: MetricsRegistry, workers: Pick<PodWorkers, 'pods' | 'states'>): void {
  const byStatic = (pods: readonly Pod[]) =>
    [true, false].map((value) => [[value ? 'true' : ''], pods.filter((pod) => isStatic(pod) === value).length] as const)
  const isActive = (pod: Pod): boolean => !isTerminal(statusOf(pod).phase)
  registry.gauge(
    'kubelet_desired_pods',
    'The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.',
    ['static'],
    () => byStatic(workers.pods),
  )
  registry.gauge(
    'kubelet_active_pods',
    'The number of pods the kubelet considers active and which are being considered when admitting new pods. ' +
      'static is true if the pod is not from the apiserver.',
    ['static'],
    () => byStatic(workers.pods.filter(isActive)),
  )
  registry.gauge(
    'kubelet_mirror_pods',
    'The number of mirror pods the kubelet will try to create (one per admitted static pod)',
    [],
    () => [[[], workers.pods.filter((pod) => isStatic(pod)).length]],
  )
  registry.gauge(
    'kubelet_managed_ephemeral_containers',
    'Current number of ephemeral containers in pods managed by this kubelet.',
    [],
    () => [[[], workers.pods.reduce((sum, pod) => sum + (specOf(pod).ephemeralContainers?.length ?? 0), 0)]],
  )
  registry.gauge(
    'kubelet_working_pods',
    'Number of pods the kubelet is actually running, broken down by lifecycle phase, whether the pod is desired, ' +
      'orphaned, or runtime only (also orphaned), and whether the pod is static. An orphaned pod has been removed ' +
      'from local configuration or force deleted in the API and consumes resources that are not otherwise visible.',
    ['lifecycle', 'config', 'static'],
    () => [...Map.groupBy(workers.states, labelsOf)].map(([labels, pods]) => [labels.split(' '), pods.length] as const),
  )
}

function labelsOf({ pod, state }: PodWorkers['states'][number]): string {
  // A pod that only the runtime has is made up from its labels, without containers.
  const config = specOf(pod).containers.length === 0 ? 'runtime_only' : 'desired'
  return [lifecycles[state], config, config === 'runtime_only' ? 'unknown' : isStatic(pod) ? 'true' : ''].join(' ')
}
