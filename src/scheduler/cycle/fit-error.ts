/** Why a pod fits nowhere, in the words of upstream's events and conditions. */
import type { Refusal } from '../framework/status.ts'

export interface Diagnosis {
  /** How many nodes there are. */
  readonly nodeCount: number
  /** By node; those that PreFilter left out are not there. */
  readonly refusals: ReadonlyMap<string, Refusal>
  /** What is said of nodes that are not there. */
  readonly absentReason?: string
  /** What PreFilter said, if it refused the pod everywhere. */
  readonly preFilterMessage?: string
  readonly postFilterMessage?: string
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …` */
export function fitMessage({
  nodeCount,
  refusals,
  absentReason,
  preFilterMessage,
  postFilterMessage,
}: Diagnosis): string {
  const parts = [`0/${nodeCount} nodes are available:`]
  if (preFilterMessage) parts.push(`${preFilterMessage}.`)
  else {
    const counts = new Map<string, number>()
    const count = (reason: string, by: number): void => void counts.set(reason, (counts.get(reason) ?? 0) + by)
    for (const { status } of refusals.values()) for (const reason of status.reasons) count(reason, 1)
    if (absentReason && refusals.size < nodeCount) count(absentReason, nodeCount - refusals.size)
    // As texts: `10 …` comes before `2 …`.
    const reasons = [...counts].map(([reason, times]) => `${times} ${reason}`).sort()
    if (reasons.length > 0) parts.push(`${reasons.join(', ')}.`)
  }
  if (postFilterMessage) parts.push(postFilterMessage)
  return parts.join(' ')
}
