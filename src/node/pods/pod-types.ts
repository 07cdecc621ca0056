/** The parts of a pod that a kubelet reads and writes. */
import type { Pod } from '../../client/kinds.ts'

export type PodSpec = NonNullable<Pod['spec']>
export type PodStatus = NonNullable<Pod['status']>
export type Container = PodSpec['containers'][number]
/** The list that a container belongs to, with its restart behaviour. */
export type ContainerKind = 'main' | 'init' | 'sidecar' | 'ephemeral'
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]
export type PodCondition = NonNullable<PodStatus['conditions']>[number]
export type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

/** An event to record for a pod. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The container that it is about: `spec.containers{web}`. */
  readonly fieldPath?: string
}

export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'
export const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed'

/** The statuses of all containers of a pod. */
export const allStatuses = ({ status = {} }: Pod): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
]

export const statusOf = (pod: Pod, container: string): ContainerStatus | undefined =>
  allStatuses(pod).find(({ name }) => name === container)
