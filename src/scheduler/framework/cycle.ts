/** What outlives a single call to a plug-in: the pod in the queue, and the attempt to schedule it. */
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pods/pod-info.ts'
import type { Snapshot } from './snapshot.ts'
import type { Refusal, Status } from './status.ts'

/** A pod that waits to be scheduled. */
export interface QueuedPod {
  readonly pod: PodInfo
  /** When it came into the queue (ms); after each attempt, when it was put back. */
  readonly queuedAt: number
  /** How often it was tried. */
  readonly attempts: number
}

/** One attempt to schedule a pod, with what the plug-ins remember of it. */
export interface Cycle {
  readonly pod: PodInfo
  readonly snapshot: Snapshot
  /** A cycle of its own, which can be told of pods that would come and go. */
  copy(): Cycle
  /** Tells all plug-ins that this pod would come to (go from) the node, and changes `node`, which has to be a copy. */
  addPod(added: PodInfo, node: NodeInfo): void
  removePod(removed: PodInfo, node: NodeInfo): void
  /**
   * The first refusal of a filter; `undefined` if the pod fits. Nominated pods of at least its priority count as there.
   */
  filter(node: NodeInfo): Refusal | undefined
}

/** What PostFilter answers: where the pod will fit once room has been made, or why it will not. */
export interface PostFilterResult {
  /** Said after the filters' reasons; `undefined` if room was made. */
  readonly status?: Status
  /** The new `status.nominatedNodeName`: empty takes it away, undefined leaves it. */
  readonly nominatedNode?: string
}
