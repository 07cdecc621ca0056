/** Another program that has a say in scheduling, asked for each pod after the plug-ins. */
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pods/pod-info.ts'

export interface ExtenderFilterResult {
  readonly feasible: NodeInfo[]
  /** Reasons by node. */
  readonly failed: Readonly<Record<string, string>>
  /** The same where preemption would not help. */
  readonly unresolvable: Readonly<Record<string, string>>
}

/** Pods that would have to go from a node. */
export interface Victims {
  /** From the most important to the least. */
  readonly pods: readonly PodInfo[]
  /** How many of them a budget does not allow to go. */
  readonly violations: number
}

export interface Extender {
  readonly name: string
  /** Whether pods are scheduled without it when it cannot be asked. */
  readonly ignorable: boolean
  readonly weight: number
  /** Whether it wants to be asked about this pod: all, or those that ask for a resource it manages. */
  isInterested(pod: PodInfo): boolean
  /** Which of the nodes the pod may go to. Rejects with an Error if it cannot be asked. */
  readonly filter?: (pod: PodInfo, nodes: readonly NodeInfo[]) => Promise<ExtenderFilterResult>
  /** Scores by node, from 0 to 10. */
  readonly prioritize?: (pod: PodInfo, nodes: readonly NodeInfo[]) => Promise<ReadonlyMap<string, number>>
  /** Which of the candidates remain, and with which victims. */
  readonly preempt?: (pod: PodInfo, victims: ReadonlyMap<string, Victims>) => Promise<ReadonlyMap<string, Victims>>
  readonly bind?: (pod: PodInfo, node: string) => Promise<void>
}

/** Scores of extenders end here. */
export const maxExtenderScore = 10
