/** The reasons for which one version of a pod is not ready. */
import type { ObjectLike } from './histories.ts'

export interface Reason {
  readonly source: 'pod' | 'scheduler' | 'container' | 'claim'
  /** One word, such as `Unschedulable`. */
  readonly reason: string
  readonly message: string
}

export interface PodLike extends ObjectLike {
  readonly spec?: {
    readonly nodeName?: string
    readonly schedulerName?: string
    readonly schedulingGates?: readonly { readonly name?: string }[]
    readonly readinessGates?: readonly { readonly conditionType?: string }[]
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly conditions?: readonly Condition[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
}

interface ContainerStatus {
  readonly name?: string
  readonly ready?: boolean
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: object
    readonly terminated?: { readonly reason?: string; readonly message?: string; readonly exitCode?: number }
  }
}

/** Returns nothing for pods that are ready or done. */
export function podReasons(pod: PodLike | undefined): Reason[] {
  if (!pod) return []
  const { spec = {}, status = {}, metadata = {} } = pod
  if (metadata.deletionTimestamp) return [terminating(metadata.finalizers ?? [])]
  if (status.phase === 'Succeeded') return []
  if (status.phase === 'Failed') {
    const { reason = 'Failed', message = 'Its containers have failed.' } = status
    return [{ source: 'pod', reason, message }, ...containerReasons(status)]
  }
  if (!spec.nodeName) return [schedulingReason(pod)]
  if (status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')) return []
  const containers = containerReasons(status)
  if (containers.length > 0) return containers
  const gates = gateReasons(pod)
  if (gates.length > 0) return gates
  const message = `The kubelet of ${spec.nodeName} has not reported a status of its containers.`
  return [{ source: 'pod', reason: 'WaitsForNode', message }]
}

const terminating = (finalizers: readonly string[]): Reason => ({
  source: 'pod',
  reason: 'Terminating',
  message: finalizers.length > 0 ? `Its finalizers are ${finalizers.join(', ')}.` : 'Its containers are being stopped.',
})

function schedulingReason({ spec = {}, status = {} }: PodLike): Reason {
  const gates = spec.schedulingGates ?? []
  if (gates.length > 0) {
    const names = gates.map(({ name }) => name).join(', ')
    return { source: 'scheduler', reason: 'SchedulingGated', message: `Its scheduling gates are ${names}.` }
  }
  const condition = status.conditions?.find(({ type }) => type === 'PodScheduled')
  if (condition?.status === 'False')
    return { source: 'scheduler', reason: condition.reason ?? 'Unschedulable', message: condition.message ?? '' }
  const scheduler = spec.schedulerName ?? 'default-scheduler'
  return { source: 'scheduler', reason: 'NotScheduled', message: `The scheduler ${scheduler} has not chosen a node.` }
}

function containerReasons({ initContainerStatuses = [], containerStatuses = [] }: NonNullable<PodLike['status']>) {
  return [...initContainerStatuses, ...containerStatuses].flatMap(({ name, ready, state = {} }): Reason[] => {
    const { waiting, terminated, running } = state
    const of = (reason: string, message: string): Reason[] => [
      { source: 'container', reason, message: `container ${name}: ${message}` },
    ]
    if (waiting) return of(waiting.reason ?? 'Waiting', waiting.message || 'it waits')
    if (terminated && terminated.exitCode !== 0)
      return of(terminated.reason ?? 'Error', terminated.message || `it ended with exit code ${terminated.exitCode}`)
    if (running && ready === false && containerStatuses.some((status) => status.name === name))
      return of('NotReady', 'it runs, and its readiness probe has not succeeded')
    return []
  })
}

function gateReasons({ spec = {}, status = {} }: PodLike): Reason[] {
  return (spec.readinessGates ?? []).flatMap(({ conditionType = '' }): Reason[] => {
    const isTrue = status.conditions?.some(({ type, status: value }) => type === conditionType && value === 'True')
    return isTrue
      ? []
      : [{ source: 'pod', reason: 'ReadinessGate', message: `Its condition ${conditionType} is not True.` }]
  })
}
