/** A pod in the queue, with the results of its attempts. */
import type { QueuedPod } from '../framework/cycle.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'

export interface BackOff {
  readonly initialMs: number
  readonly maxMs: number
}

export class QueueEntry implements QueuedPod {
  pod: PodInfo
  /** By the cluster's clock, in ms since 1970. */
  queuedAt: number
  attempts = 0
  /** When the first attempt began, by `performance.now()`. */
  firstTriedAt: number | undefined
  /** Attempts that ended because no node fits, and those in a row that ended with an error. */
  rejections = 0
  errors = 0
  /** When the last attempt ended with an error, by the machine's clock. In ms since 1970. */
  failedAt = 0
  /** Plug-ins that rejected the pod in its last attempt; those that returned `Pending`; the one that gates it. */
  rejectedBy: ReadonlySet<string> = none
  pendingFor: ReadonlySet<string> = none
  gatedBy: string | undefined

  constructor(pod: PodInfo, now: number) {
    this.pod = pod
    this.queuedAt = now
  }

  get key(): string {
    return this.pod.key
  }

  /**
   * The end of the back-off after the last attempt, in ms since 1970: by the machine's clock after an error, otherwise
   * by the cluster's. The back-off doubles with each attempt.
   */
  backOffEnd({ initialMs, maxMs }: BackOff): number {
    const failures = this.errors || this.rejections
    if (failures === 0) return this.queuedAt
    return (this.errors > 0 ? this.failedAt : this.queuedAt) + Math.min(initialMs * 2 ** (failures - 1), maxMs)
  }
}

const none: ReadonlySet<string> = new Set()
