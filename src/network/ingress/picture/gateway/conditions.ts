/** Conditions of the Gateway API. Reasons are its own. */
import type { Condition } from './kinds.ts'

/** A condition before it is written. */
export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

export const positive = (type: string, reason = type, message = ''): NewCondition => ({
  type,
  status: 'True',
  reason,
  message,
})

export const negative = (type: string, reason: string, message: string): NewCondition => ({
  type,
  status: 'False',
  reason,
  message,
})

/** Adds generation and time to conditions. One whose status is the same keeps its time. */
export function mergeConditions(
  current: readonly Condition[] = [],
  desired: readonly NewCondition[],
  generation: number | undefined,
  now: string,
): Condition[] {
  return desired.map((condition) => {
    const old = current.find(({ type }) => type === condition.type)
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now
    return { ...condition, ...(generation !== undefined && { observedGeneration: generation }), lastTransitionTime }
  })
}
