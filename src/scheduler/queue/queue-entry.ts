/** A pod in the queue, with what its attempts have taught. */
import type { QueuedPod } from '../framework/cycle.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'

export interface BackOff {
  readonly initialMs: number
  readonly maxMs: number
}

export class QueueEntry implements QueuedPod {
  pod: PodInfo
  queuedAt: number
  attempts = 0
  /** When it was first tried, in ms. */
  firstTriedAt: number | undefined
  /** Attempts that ended because no node would do, and those in a row that ended because something went wrong. */
  refusals = 0
  errors = 0
  /**
   * Plug-ins that refused it in its last attempt; those that said `Pending`; the one that keeps it out of the active
   * queue.
   */
  refusedBy: ReadonlySet<string> = none
  pendingFor: ReadonlySet<string> = none
  gatedBy: string | undefined

  constructor(pod: PodInfo, now: number) {
    this.pod = pod
    this.queuedAt = now
  }

  get key(): string {
    return this.pod.key
  }

  /** When it may be tried again after its last attempt, in ms: each attempt doubles the pause. */
  backOffEnd({ initialMs, maxMs }: BackOff): number {
    const failures = this.errors || this.refusals
    if (failures === 0) return this.queuedAt
    return this.queuedAt + Math.min(initialMs * 2 ** (failures - 1), maxMs)
  }
}

const none: ReadonlySet<string> = new Set()
