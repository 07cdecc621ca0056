/** The interface of audit backends, and the options that they share. */
import type { AuditEvent } from './event/audit-event.ts'
import type { Stage } from './policy/policy.ts'

/** An event at a stage. The event may change later: backends must encode it immediately. */
export interface StagedEvent {
  readonly event: AuditEvent
  readonly stage: Stage
  /** The time of the stage, ms since 1970; undefined means the time when the request was received. */
  readonly ms: number | undefined
}

export interface AuditBackend {
  /** Returns false if the event was lost and the request must fail; a promise if the request has to wait. */
  take(staged: StagedEvent): boolean | Promise<boolean>
  /** Resolves when all events are written, or after a time limit. */
  stop(): Promise<void>
}

/**
 * `batch`: requests do not wait; `blocking`: they wait for their event; `blocking-strict`: they also fail if the event
 * is lost.
 */
export const modes = ['batch', 'blocking', 'blocking-strict'] as const
export type Mode = (typeof modes)[number]

export interface BatchOptions {
  /** The capacity of the queue, in events. */
  readonly bufferSize: number
  readonly maxSize: number
  readonly maxWaitMs: number
  /** The average number of batches per second, and the maximum burst. */
  readonly throttle?: { readonly perSecond: number; readonly burst: number }
}

/** In bytes. Undefined disables truncation. */
export interface TruncateOptions {
  readonly maxEventSize: number
  readonly maxBatchSize: number
}

/** Reports lost events. `plugin` is `log`, `webhook`, `buffered` or `truncate`. */
export type ReportLoss = (plugin: string, events: number, why: string) => void
