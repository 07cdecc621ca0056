/** The message for a pod that fits nowhere, with the text of upstream's events and conditions. */
import type { Rejection } from '../framework/status.ts'

export interface Diagnosis {
  /** The number of nodes. */
  readonly nodeCount: number
  /** By node; nodes excluded by PreFilter are absent. */
  readonly rejections: ReadonlyMap<string, Rejection>
  /** The reason for absent nodes. */
  readonly absentReason?: string
  /** The reason of PreFilter, if it rejected the pod on all nodes. */
  readonly preFilterMessage?: string
  readonly postFilterMessage?: string
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …` */
export function fitMessage({
  nodeCount,
  rejections,
  absentReason,
  preFilterMessage,
  postFilterMessage,
}: Diagnosis): string {
  const parts = [`0/${nodeCount} nodes are available:`]
  if (preFilterMessage) parts.push(`${preFilterMessage}.`)
  else {
    const counts = new Map<string, number>()
    const count = (reason: string, by: number): void => void counts.set(reason, (counts.get(reason) ?? 0) + by)
    for (const { status } of rejections.values()) for (const reason of status.reasons) count(reason, 1)
    if (absentReason && rejections.size < nodeCount) count(absentReason, nodeCount - rejections.size)
    // Sorted as strings: `10 …` comes before `2 …`.
    const reasons = [...counts].map(([reason, times]) => `${times} ${reason}`).sort()
    if (reasons.length > 0) parts.push(`${reasons.join(', ')}.`)
  }
  if (postFilterMessage) parts.push(postFilterMessage)
  return parts.join(' ')
}
