/**
 * How long a Job waits before it replaces failed pods: 10 s after the first failure, twice as long after each further
 * one, up to 10 minutes.
 */
import type { Pod } from '../../../../client/kinds.ts'
import { finishedAt } from '../pods.ts'

/** What is remembered of a Job's failures. */
export interface BackOff {
  /** Since the last success. */
  readonly failures: number
  /** In ms since 1970. */
  readonly lastFailure: number
}

export const noBackOff: BackOff = { failures: 0, lastFailure: 0 }

const firstMs = 10_000
const longestMs = 600_000

/**
 * What is remembered after pods have ended that were not counted before. Only failures after the last success matter.
 */
export function backOffAfter(known: BackOff, succeeded: readonly Pod[], failed: readonly Pod[]): BackOff {
  const lastSuccess = succeeded.length > 0 ? Math.max(...succeeded.map(finishedAt)) : Number.NEGATIVE_INFINITY
  const since = failed.map(finishedAt).filter((time) => time > lastSuccess)
  const before = succeeded.length > 0 ? noBackOff : known
  return since.length > 0 ? { failures: before.failures + since.length, lastFailure: Math.max(...since) } : before
}

/** Milliseconds until the next pod may be made. */
export function remainingMs({ failures, lastFailure }: BackOff, now: number): number {
  if (failures === 0) return 0
  const pause = Math.min(firstMs * 2 ** (failures - 1), longestMs)
  return Math.max(0, lastFailure + pause - now)
}
