/** An external program that takes part in scheduling: called for each pod after the plug-ins. */
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pods/pod-info.ts'

/** The nodes that an extender allows, and its reasons against others. */
export interface ExtenderFilterResult {
  readonly feasible: NodeInfo[]
  /** Reasons by node. */
  readonly failed: Readonly<Record<string, string>>
  /** The same for nodes on which preemption would not help. */
  readonly unresolvable: Readonly<Record<string, string>>
}

/** The pods to evict from a node. */
export interface Victims {
  /** From the most to the least important. */
  readonly pods: readonly PodInfo[]
  /** The number of victims whose disruption budget does not allow the eviction. */
  readonly violations: number
}

/** A server that takes part in decisions (webhooks of the scheduler). */
export interface Extender {
  readonly name: string
  /** True if pods are scheduled without the extender while it fails. */
  readonly ignorable: boolean
  readonly weight: number
  /** Returns true if the extender is to be called for the pod: always, or if it requests a managed resource. */
  isInterested(pod: PodInfo): boolean
  /** Returns the nodes that the pod may run on. Rejects with an Error if the call fails. */
  readonly filter?: (pod: PodInfo, nodes: readonly NodeInfo[]) => Promise<ExtenderFilterResult>
  /** Scores by node, from 0 to 10. */
  readonly prioritize?: (pod: PodInfo, nodes: readonly NodeInfo[]) => Promise<ReadonlyMap<string, number>>
  /** Returns the remaining candidates with their victims. */
  readonly preempt?: (pod: PodInfo, victims: ReadonlyMap<string, Victims>) => Promise<ReadonlyMap<string, Victims>>
  readonly bind?: (pod: PodInfo, node: string) => Promise<void>
}

/** The highest score of an extender. */
export const maxExtenderScore = 10
