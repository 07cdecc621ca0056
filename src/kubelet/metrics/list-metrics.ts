/** Metrics of the comparisons with the runtime's lists (upstream's PLEG): their times, and what runs. */
import { ContainerState, PodSandboxState } from '#protobuf/cri-runtime_pb.js'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { KubeletMetrics } from './kubelet-metrics.ts'

/** One comparison with the lists of the runtime. */
export interface RuntimeLists {
  readonly sandboxes: readonly { readonly state: PodSandboxState }[]
  readonly containers: readonly { readonly state: ContainerState }[]
  /** Its begin and end, in ms since 1970. */
  readonly began: number
  readonly ended: number
}

const stateNames: Readonly<Record<ContainerState, string>> = {
  [ContainerState.CONTAINER_CREATED]: 'created',
  [ContainerState.CONTAINER_RUNNING]: 'running',
  [ContainerState.CONTAINER_EXITED]: 'exited',
  [ContainerState.CONTAINER_UNKNOWN]: 'unknown',
}

/** Registers the gauges. Call `compared` after each comparison. */
export function listMetrics(registry: MetricsRegistry, metrics: KubeletMetrics) {
  let last: RuntimeLists | undefined
  registry.gauge('kubelet_running_pods', 'Number of pods that have a running pod sandbox', [], () =>
    last ? [[[], last.sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).length]] : [],
  )
  registry.gauge('kubelet_running_containers', 'Number of containers currently running', ['container_state'], () =>
    [...Map.groupBy(last?.containers ?? [], ({ state }) => stateNames[state] ?? 'unknown')].map(
      ([state, containers]) => [[state], containers.length] as const,
    ),
  )
  registry.gauge('kubelet_pleg_last_seen_seconds', 'Timestamp in seconds when PLEG was last seen active.', [], () =>
    last ? [[[], last.ended / 1000]] : [],
  )
  return {
    compared(lists: RuntimeLists): void {
      metrics.relistDuration.observe((lists.ended - lists.began) / 1000)
      if (last) metrics.relistInterval.observe((lists.began - last.began) / 1000)
      last = lists
    },
  }
}
