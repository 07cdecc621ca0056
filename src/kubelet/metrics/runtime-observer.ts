/** Observes the calls of the container runtime: metrics of operations, and lines of the log with `-v`. */
import type { Verbosity } from '../../lib/log/verbosity.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { SandboxConfig } from '../cri/runtime.ts'
import type { KubeletMetrics } from './kubelet-metrics.ts'

/** One call of the runtime that has ended. */
export interface RuntimeCall {
  /** The method's name in CRI: `RunPodSandbox`. */
  readonly method: string
  readonly request: object
  readonly ms: number
  readonly error: unknown
}

export type RuntimeObserver = (call: RuntimeCall) => void

/** Upstream's names of operations, where they are not those of CRI in lower case with underscores. */
const operations: Readonly<Record<string, string>> = {
  RunPodSandbox: 'run_podsandbox',
  StopPodSandbox: 'stop_podsandbox',
  RemovePodSandbox: 'remove_podsandbox',
  PodSandboxStatus: 'podsandbox_status',
  ListPodSandbox: 'list_podsandbox',
  PodSandboxStats: 'podsandbox_stats',
  ListPodSandboxStats: 'list_podsandbox_stats',
  UpdateContainerResources: 'update_container',
}

/** Calls that take longer are logged at level 2, in ms. */
const slowMs = 1_000

export function runtimeObserver(metrics: KubeletMetrics, verbosity: Verbosity): RuntimeObserver {
  return ({ method, request, ms, error }) => {
    const name = operationOf(method)
    metrics.operations([name]).add()
    metrics.operationDuration([name]).observe(ms / 1000)
    if (error !== undefined) metrics.operationErrors([name]).add()
    if (method === 'RunPodSandbox') observeSandbox(metrics, request, ms, error)
    const level = error !== undefined || ms > slowMs ? 2 : 4
    verbosity.log(
      level,
      () => `runtime ${name} ${Math.round(ms)}ms${error === undefined ? '' : `: ${messageOf(error)}`}`,
    )
  }
}

/** Returns for example `list_containers` for `ListContainers`. */
export const operationOf = (method: string): string =>
  operations[method] ?? method.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()

function observeSandbox(metrics: KubeletMetrics, request: object, ms: number, error: unknown): void {
  const handler = 'runtimeHandler' in request ? String(request.runtimeHandler) : ''
  const isMapped = hasMappedUsers(request)
  metrics.startedPods.add()
  if (isMapped) metrics.startedMappedPods.add()
  metrics.sandboxDuration([handler]).observe(ms / 1000)
  if (error === undefined) return
  metrics.sandboxErrors([handler]).add()
  metrics.startedPodsErrors.add()
  if (isMapped) metrics.startedMappedPodsErrors.add()
}

const hasMappedUsers = (request: { readonly config?: SandboxConfig }): boolean =>
  (request.config?.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids ?? []).length > 0
