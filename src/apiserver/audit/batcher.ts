/**
 * Collects events and sends them in batches, when a batch is full or its first event has waited long enough. The queue
 * and the number of pending batches are limited: if the receiver is slow, later events are lost, so that memory use is
 * bounded.
 */
import type { BatchOptions, ReportLoss } from './backend.ts'

/** The maximum number of pending batches. */
const maxPending = 16

export interface BatcherOptions extends BatchOptions {
  /** Sends a batch; never rejects. */
  readonly send: (batch: readonly string[]) => Promise<void>
  /** The maximum size of a batch in bytes. */
  readonly maxBytes?: number
  readonly lost: ReportLoss
}

export class Batcher {
  readonly #options: BatcherOptions
  #queue: string[] = []
  #since = 0
  #pending = 0
  #timer: NodeJS.Timeout | undefined
  #scheduled = false
  #stopping = false
  #tokens: number
  #refilled = performance.now()
  #idle: (() => void) | undefined

  constructor(options: BatcherOptions) {
    this.#options = options
    this.#tokens = options.throttle?.burst ?? 0
  }

  add(event: string): void {
    const { bufferSize, maxSize, lost } = this.#options
    if (this.#stopping || this.#queue.length >= bufferSize) {
      lost('buffered', 1, this.#stopping ? 'audit backend shut down' : 'audit buffer queue blocked')
      return
    }
    if (this.#queue.length === 0) this.#since = performance.now()
    this.#queue.push(event)
    if (this.#queue.length >= maxSize) this.#scheduleSend()
    else if (this.#queue.length === 1) this.#sendDue()
  }

  /** Sends the queue. Resolves when all is sent, or after `ms`. */
  async stop(ms: number): Promise<void> {
    this.#stopping = true
    this.#sendDue()
    if (this.#queue.length === 0 && this.#pending === 0) return
    let deadline: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve) => (this.#idle = resolve)),
      new Promise<void>((resolve) => (deadline = setTimeout(resolve, ms))),
    ])
    clearTimeout(deadline)
    clearTimeout(this.#timer)
    if (this.#queue.length > 0) this.#options.lost('buffered', this.#queue.splice(0).length, 'audit backend shut down')
  }

  /** Delayed to the end of the turn, so that its events go into one batch. */
  #scheduleSend(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#sendDue()
    })
  }

  /** Sends all batches that are due, and sets a timer for the next one. */
  #sendDue(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { maxSize, maxWaitMs } = this.#options
    const now = performance.now()
    while (this.#queue.length > 0 && this.#pending < maxPending) {
      const remaining = this.#stopping || this.#queue.length >= maxSize ? 0 : this.#since + maxWaitMs - now
      const wait = remaining > 0 ? remaining : this.#throttleDelay(now)
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#sendDue(), wait)
        if (!this.#stopping) this.#timer.unref()
        return
      }
      this.#send(this.#next())
      this.#since = now
    }
    if (this.#queue.length === 0 && this.#pending === 0) this.#idle?.()
  }

  /** Returns the time in ms that the next batch has to wait; 0 if it may be sent. */
  #throttleDelay(now: number): number {
    const { throttle } = this.#options
    if (!throttle || this.#stopping) return 0
    this.#tokens = Math.min(throttle.burst, this.#tokens + ((now - this.#refilled) / 1000) * throttle.perSecond)
    this.#refilled = now
    if (this.#tokens < 1) return Math.max(1, ((1 - this.#tokens) / throttle.perSecond) * 1000)
    this.#tokens--
    return 0
  }

  #next(): readonly string[] {
    const { maxSize, maxBytes = Number.POSITIVE_INFINITY } = this.#options
    let count = 0
    let bytes = 0
    while (count < this.#queue.length && count < maxSize) {
      bytes += this.#queue[count]!.length
      if (count > 0 && bytes > maxBytes) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  #send(batch: readonly string[]): void {
    this.#pending++
    void this.#options.send(batch).then(() => {
      this.#pending--
      this.#sendDue()
    })
  }
}
