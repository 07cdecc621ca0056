/** The memory of a simulated kubelet about a pod, beside its status. */

/** The memory of a container, with more precision than the API's seconds. */
export interface ContainerMemory {
  /** When its state began, in ms since 1970. */
  readonly since: number
  /** The number of times it has ended shortly after its start. */
  readonly crashes: number
}

/** By container name; `''` is the pod itself, since its deletion. */
export type PodMemory = ReadonlyMap<string, ContainerMemory>
