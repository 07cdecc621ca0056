/**
 * A queue of keys to process. A key that is added several times waits once and is never processed concurrently. After a
 * failure it is requeued with exponential back-off per key, and a rate limit for all keys.
 */
import { type Alarm, type Clock, systemClock } from '../../lib/clock/clock.ts'
import { type RateLimit, TokenBucket } from '../connection/pacing/token-bucket.ts'
import type { QueueMetrics, QueueMetricsProvider } from './queue-metrics.ts'
import { WaitingKeys } from './waiting-keys.ts'

/** The work of a queue, and its limits. */
export interface WorkQueueOptions {
  /** The label of its metrics; required with `metrics`. */
  readonly name?: string
  /** Keys that are processed at the same time. Default: 1. */
  readonly concurrency?: number
  /** Processes a key. The key is requeued if it rejects. */
  readonly work: (key: string) => Promise<void>
  /** Called after `work` has rejected. */
  readonly onFailure: (key: string, error: unknown) => void
  /** Back-off after the first failure of a key, and the maximum, in ms. Default: 5 and 60,000. */
  readonly retryMs?: { readonly shortest: number; readonly longest: number }
  /** Rate limit for the retries of all keys. Default: 100 per second after a burst of 1,000. */
  readonly retryLimit?: RateLimit
  readonly metrics?: QueueMetricsProvider
  /** For `addAfter`. Default: the clock of the machine. */
  readonly clock?: Clock
}

/** How a key is added to a work queue. */
export interface AddOptions {
  /** Keys with a higher priority are processed first. Default: 0. */
  readonly priority?: number
}

/** How a key is added after a delay. */
export interface DelayOptions extends AddOptions {
  /**
   * True for a delay of real time, as of retries and batches, which must end even if the queue's clock is paused.
   * Default: false.
   */
  readonly isRealTime?: boolean
}

const defaultRetryMs = { shortest: 5, longest: 60_000 }
const defaultRetryLimit: RateLimit = { qps: 100, burst: 1000 }

/** A key that is added later. */
interface Delayed {
  /** In ms of `Clock.elapsed`. */
  readonly at: number
  readonly alarm: Alarm
}

/**
 * The queue of a controller, as client-go's rate-limiting queue.
 * @example
 * const queue = new WorkQueue({ work: (key) => reconcile(key), onFailure: (key, error) => console.error(key, error) })
 * informer.onChange((object, old) => queue.add(keyOf((object ?? old)!)))
 * queue.start()
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #retryMs: { readonly shortest: number; readonly longest: number }
  readonly #retries: TokenBucket
  readonly #metrics: QueueMetrics | undefined
  readonly #waiting = new WaitingKeys()
  /** When each waiting key was added; only for metrics. */
  readonly #added = new Map<string, number>()
  /** Start times of the keys in process. */
  readonly #working = new Map<string, number>()
  /** Keys that were added while in process, with their priorities. */
  readonly #dirty = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  readonly #clock: Clock
  /** Keys that are delayed by the clock. A retry leaves them in place, as they may be due at a time of their own. */
  readonly #delayed = new Map<string, Delayed>()
  /** Keys that are delayed in real time. */
  readonly #delayedInRealTime = new Map<string, Delayed>()
  #state: 'filling' | 'working' | 'draining' | 'stopped' = 'filling'
  readonly #idle = Promise.withResolvers<void>()

  constructor(options: WorkQueueOptions) {
    const { name = '', retryMs = defaultRetryMs, retryLimit = defaultRetryLimit, metrics } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#retryMs = retryMs
    this.#retries = new TokenBucket(retryLimit)
    this.#metrics = metrics?.(name, () => ({ depth: this.#waiting.size, working: this.#working.values() }))
  }

  /** The number of waiting keys. */
  get depth(): number {
    return this.#waiting.size
  }

  /** Consecutive failures of a key. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** Adds a key; does nothing if it is waiting with the same or a higher priority. */
  add(key: string, { priority = 0 }: AddOptions = {}): void {
    if (this.#isEnding) return
    this.#add(key, priority)
    this.#next()
  }

  /** Adds a key after `ms` of the queue's clock, or earlier if an earlier addition is pending. */
  addAfter(key: string, ms: number, { priority = 0, isRealTime = false }: DelayOptions = {}): void {
    if (this.#isEnding) return
    const [clock, delayed] = isRealTime ? [systemClock, this.#delayedInRealTime] : [this.#clock, this.#delayed]
    const at = clock.elapsed() + ms
    const present = delayed.get(key)
    if (present && present.at <= at) return
    present?.alarm.cancel()
    const alarm = clock.after(ms, () => {
      delayed.delete(key)
      this.add(key, { priority })
    })
    delayed.set(key, { at, alarm })
  }

  /** Counts a failure and adds the key after its back-off, in real time. */
  addRateLimited(key: string, options?: AddOptions): void {
    const failures = this.failures(key)
    this.#failures.set(key, failures + 1)
    this.#metrics?.retried()
    const { shortest, longest } = this.#retryMs
    const ms = Math.max(Math.min(shortest * 2 ** failures, longest), this.#retries.take())
    this.addAfter(key, ms, { ...options, isRealTime: true })
  }

  /** Resets the failures of a key. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** Starts to process keys. */
  start(): void {
    if (this.#state === 'filling') this.#state = 'working'
    this.#next()
  }

  /** Accepts no more keys and drops the waiting ones; resolves when the keys in process are done. */
  stop(): Promise<void> {
    this.#state = 'stopped'
    this.#waiting.clear()
    this.#added.clear()
    return this.#end()
  }

  /** Accepts no more keys; resolves when the waiting keys and those in process are done. Failures are not retried. */
  drain(): Promise<void> {
    // A queue that was not started processes nothing.
    if (this.#state === 'filling') return this.stop()
    if (this.#state === 'working') this.#state = 'draining'
    return this.#end()
  }

  get #isEnding(): boolean {
    return this.#state === 'stopped' || this.#state === 'draining'
  }

  #end(): Promise<void> {
    for (const delayed of [this.#delayed, this.#delayedInRealTime]) {
      for (const { alarm } of delayed.values()) alarm.cancel()
      delayed.clear()
    }
    this.#resolveIfIdle()
    return this.#idle.promise
  }

  #add(key: string, priority: number): void {
    if (this.#working.has(key)) {
      if (!this.#dirty.has(key)) this.#metrics?.added()
      this.#dirty.set(key, Math.max(priority, this.#dirty.get(key) ?? priority))
    } else if (this.#waiting.add(key, priority)) {
      this.#metrics?.added()
      if (this.#metrics) this.#added.set(key, performance.now())
    }
  }

  #next(): void {
    const { concurrency = 1 } = this.#options
    while ((this.#state === 'working' || this.#state === 'draining') && this.#working.size < concurrency) {
      const next = this.#waiting.take()
      if (!next) return
      void this.#work(next.key, next.priority)
    }
  }

  async #work(key: string, priority: number): Promise<void> {
    const began = performance.now()
    this.#working.set(key, began)
    if (this.#metrics) {
      this.#metrics.taken((began - (this.#added.get(key) ?? began)) / 1000)
      this.#added.delete(key)
    }
    try {
      await this.#options.work(key)
      this.#failures.delete(key)
    } catch (error) {
      if (this.#state !== 'stopped') {
        this.#options.onFailure(key, error)
        if (!this.#isEnding) this.addRateLimited(key, { priority })
      }
    }
    this.#metrics?.done((performance.now() - began) / 1000)
    this.#working.delete(key)
    const dirtyPriority = this.#dirty.get(key)
    this.#dirty.delete(key)
    if (dirtyPriority !== undefined && this.#state !== 'stopped') {
      this.#waiting.add(key, dirtyPriority)
      if (this.#metrics) this.#added.set(key, performance.now())
    }
    this.#next()
    this.#resolveIfIdle()
  }

  #resolveIfIdle(): void {
    if (this.#isEnding && this.#working.size === 0 && this.#waiting.size === 0) this.#idle.resolve()
  }
}
