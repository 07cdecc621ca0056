/** Where audit events go: what all backends have in common. */
import type { AuditEvent } from './event/audit-event.ts'
import type { Stage } from './policy/policy.ts'

/** An event at a stage, as it is now: backends make text or bytes of it at once. */
export interface StagedEvent {
  readonly event: AuditEvent
  readonly stage: Stage
  /** When it happened, ms since 1970; undefined is when the request came in. */
  readonly ms: number | undefined
}

export interface AuditBackend {
  /** False: the event was lost, and the request must not go on. A promise where the request has to wait. */
  take(staged: StagedEvent): boolean | Promise<boolean>
  /** Resolves when what was taken is written, or its time is over. */
  stop(): Promise<void>
}

/**
 * `batch`: requests wait for nothing; `blocking`: for their event; `blocking-strict`: and they fail if it cannot be
 * kept.
 */
export const modes = ['batch', 'blocking', 'blocking-strict'] as const
export type Mode = (typeof modes)[number]

export interface BatchOptions {
  /** Events that may wait. */
  readonly bufferSize: number
  readonly maxSize: number
  readonly maxWaitMs: number
  /** Batches a second on average, and at once. */
  readonly throttle?: { readonly perSecond: number; readonly burst: number }
}

/** Bytes; undefined where nothing is cut. */
export interface TruncateOptions {
  readonly maxEventSize: number
  readonly maxBatchSize: number
}

/** Told what could not be kept. `plugin` is `log`, `webhook`, `buffered` or `truncate`. */
export type ReportLoss = (plugin: string, events: number, why: string) => void
