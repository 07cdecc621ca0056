/** Data that outlives a single plug-in call: the pod in the queue, and the attempt to schedule it. */
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pods/pod-info.ts'
import type { Snapshot } from './snapshot.ts'
import type { Rejection, Status } from './status.ts'

/** A pod that waits to be scheduled. */
export interface QueuedPod {
  readonly pod: PodInfo
  /** When the pod entered the queue, or was put back after its last attempt. In ms. */
  readonly queuedAt: number
  /** The number of attempts. */
  readonly attempts: number
}

/** One attempt to schedule a pod, with the state of the plug-ins. */
export interface Cycle {
  readonly pod: PodInfo
  readonly snapshot: Snapshot
  /** A copy, in which pods can be added and removed for a simulation. */
  copy(): Cycle
  /**
   * Simulates that a pod is added to (removed from) the node: calls all plug-ins, and changes `node`, which must be a
   * copy.
   */
  addPod(added: PodInfo, node: NodeInfo): void
  removePod(removed: PodInfo, node: NodeInfo): void
  /**
   * The first rejection by a Filter plug-in; `undefined` if the pod fits. Nominated pods of the same or a higher
   * priority count as if on the node.
   */
  filter(node: NodeInfo): Rejection | undefined
}

/** The result of PostFilter: the node on which the pod will fit after preemption, or the reason why there is none. */
export interface PostFilterResult {
  /** Appended to the reasons of Filter; `undefined` after a successful preemption. */
  readonly status?: Status
  /** The new `status.nominatedNodeName`: empty removes it, undefined leaves it unchanged. */
  readonly nominatedNode?: string
}
