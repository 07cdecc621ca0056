/** The back-off before a Job replaces failed pods: 10 s, doubled with each further failure, up to 10 minutes. */
import type { Pod } from '../../../../client/kinds.ts'
import { finishedAt } from '../pods.ts'

/** A Job's recent failures. */
export interface BackOff {
  /** Number of failures since the last success. */
  readonly failures: number
  /** In ms since the epoch. */
  readonly lastFailure: number
}

export const noBackOff: BackOff = { failures: 0, lastFailure: 0 }

const firstMs = 10_000
const maxMs = 600_000

/** Returns the back-off after newly ended pods. Only failures after the last success count. */
export function backOffAfter(known: BackOff, succeeded: readonly Pod[], failed: readonly Pod[]): BackOff {
  const lastSuccess = succeeded.length > 0 ? Math.max(...succeeded.map(finishedAt)) : Number.NEGATIVE_INFINITY
  const since = failed.map(finishedAt).filter((time) => time > lastSuccess)
  const before = succeeded.length > 0 ? noBackOff : known
  return since.length > 0 ? { failures: before.failures + since.length, lastFailure: Math.max(...since) } : before
}

/** Time in ms until the next pod may be created. */
export function remainingMs({ failures, lastFailure }: BackOff, now: number): number {
  if (failures === 0) return 0
  const pause = Math.min(firstMs * 2 ** (failures - 1), maxMs)
  return Math.max(0, lastFailure + pause - now)
}
