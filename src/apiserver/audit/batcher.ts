/**
 * Gathers events and sends them in batches: when there are enough, or the first has waited long enough. What waits is
 * bounded, and so are the batches under way: where the other side is slow, later events are lost, not the server's
 * memory.
 */
import type { BatchOptions, ReportLoss } from './backend.ts'

/** Batches under way at once. */
const mostUnderWay = 16

export interface BatcherOptions extends BatchOptions {
  /** Sends a batch; never rejects. */
  readonly send: (batch: readonly string[]) => Promise<void>
  /** A batch ends before it has more bytes than this. */
  readonly maxBytes?: number
  readonly lost: ReportLoss
}

export class Batcher {
  readonly #options: BatcherOptions
  #queue: string[] = []
  #since = 0
  #underWay = 0
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
    if (this.#queue.length >= maxSize) this.#soon()
    else if (this.#queue.length === 1) this.#look()
  }

  /** Sends what waits. Resolves when all is sent, or after `ms`. */
  async stop(ms: number): Promise<void> {
    this.#stopping = true
    this.#look()
    if (this.#queue.length === 0 && this.#underWay === 0) return
    let deadline: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve) => (this.#idle = resolve)),
      new Promise<void>((resolve) => (deadline = setTimeout(resolve, ms))),
    ])
    clearTimeout(deadline)
    clearTimeout(this.#timer)
    if (this.#queue.length > 0) this.#options.lost('buffered', this.#queue.splice(0).length, 'audit backend shut down')
  }

  /** Events of one turn go together. */
  #soon(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#look()
    })
  }

  /** Sends all batches that may go now, and comes again when the next one may. */
  #look(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { maxSize, maxWaitMs } = this.#options
    const now = performance.now()
    while (this.#queue.length > 0 && this.#underWay < mostUnderWay) {
      const left = this.#stopping || this.#queue.length >= maxSize ? 0 : this.#since + maxWaitMs - now
      const wait = left > 0 ? left : this.#throttled(now)
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#look(), wait)
        if (!this.#stopping) this.#timer.unref()
        return
      }
      this.#send(this.#next())
      this.#since = now
    }
    if (this.#queue.length === 0 && this.#underWay === 0) this.#idle?.()
  }

  /** 0 if a batch may go; else how long it has to wait, in ms. */
  #throttled(now: number): number {
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
    this.#underWay++
    void this.#options.send(batch).then(() => {
      this.#underWay--
      this.#look()
    })
  }
}
