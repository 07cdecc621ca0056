/** The parts of pods that their lifecycle is about, by name. */
import type { Pod } from '../../../client/kinds.ts'

export type PodSpec = NonNullable<Pod['spec']>
export type PodStatus = NonNullable<Pod['status']>
export type Container = PodSpec['containers'][number]
/** In which of a pod's lists it stands, and how long it lives. */
export type ContainerKind = 'main' | 'init' | 'sidecar' | 'ephemeral'
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]
export type PodCondition = NonNullable<PodStatus['conditions']>[number]
export type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

/** Something to be told of a pod. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Which of its containers it is about: `spec.containers{web}`. */
  readonly fieldPath?: string
}

/** What a kubelet remembers of a container, finer than the API's seconds. */
export interface ContainerMemory {
  /** When its state began, in ms since 1970. */
  readonly since: number
  /** How often it has ended shortly after its start. */
  readonly crashes: number
}

/** By the names of containers; `''` is the pod itself, from when it is to go. */
export type PodMemory = ReadonlyMap<string, ContainerMemory>

export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'
export const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed'

/** All that is told of a pod's containers, of whichever list. */
export const allStatuses = ({ status = {} }: Pod): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
]

export const statusOf = (pod: Pod, container: string): ContainerStatus | undefined =>
  allStatuses(pod).find(({ name }) => name === container)
