/**
 * A queue of keys to look at: a key waits once however often it is added, is worked on by one at a time, and is tried
 * again later when that fails: longer and longer later for one key, and so many a second for all of them.
 */
import { timerMs } from '../../lib/flow/timer-ms.ts'
import { type RateLimit, TokenBucket } from '../connection/pacing/token-bucket.ts'
import type { QueueMetrics, QueueMetricsProvider } from './queue-metrics.ts'
import { WaitingKeys } from './waiting-keys.ts'

export interface WorkQueueOptions {
  /** Of its metrics; required where there are some. */
  readonly name?: string
  /** Keys worked on at once; 1 unless said. */
  readonly concurrency?: number
  /** Does what a key needs. Called again later when it rejects. */
  readonly work: (key: string) => Promise<void>
  readonly failed: (key: string, error: unknown) => void
  /** In how many ms a key is tried again that has failed for the first time, and at most. 5 and 60,000 unless said. */
  readonly retryMs?: { readonly shortest: number; readonly longest: number }
  /** How often failed keys are tried again, all in all; 100 a second after the first 1,000 unless said. */
  readonly retryLimit?: RateLimit
  readonly metrics?: QueueMetricsProvider
}

export interface AddOptions {
  /** Keys of a higher one come first; 0 unless said. */
  readonly priority?: number
}

const usualRetryMs = { shortest: 5, longest: 60_000 }
const usualRetryLimit: RateLimit = { qps: 100, burst: 1000 }

/** A key that is put off. */
interface Delayed {
  readonly at: number
  readonly timer: NodeJS.Timeout
  readonly priority: number
}

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #retryMs: { readonly shortest: number; readonly longest: number }
  readonly #retries: TokenBucket
  readonly #metrics: QueueMetrics | undefined
  readonly #waiting = new WaitingKeys()
  /** When keys that wait were added; kept for metrics alone. */
  readonly #added = new Map<string, number>()
  /** Since when keys are worked on. */
  readonly #working = new Map<string, number>()
  /** Keys that came again while they were worked on, with their priorities. */
  readonly #again = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  readonly #delayed = new Map<string, Delayed>()
  #state: 'filling' | 'working' | 'draining' | 'stopped' = 'filling'
  readonly #idle = Promise.withResolvers<void>()

  constructor(options: WorkQueueOptions) {
    const { name = '', retryMs = usualRetryMs, retryLimit = usualRetryLimit, metrics } = options
    this.#options = options
    this.#retryMs = retryMs
    this.#retries = new TokenBucket(retryLimit)
    this.#metrics = metrics?.(name, () => ({ depth: this.#waiting.size, working: this.#working.values() }))
  }

  /** Keys that wait to be worked on. */
  get depth(): number {
    return this.#waiting.size
  }

  /** How often work on a key has failed since it last went well. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  add(key: string, { priority = 0 }: AddOptions = {}): void {
    if (this.#ends) return
    this.#add(key, priority)
    this.#next()
  }

  /** Adds it `ms` from now, or when it was to be added before, if that is sooner. */
  addAfter(key: string, ms: number, { priority = 0 }: AddOptions = {}): void {
    if (this.#ends) return
    const at = performance.now() + ms
    const present = this.#delayed.get(key)
    if (present && present.at <= at) return
    clearTimeout(present?.timer)
    const timer = setTimeout(() => {
      this.#delayed.delete(key)
      this.add(key, { priority })
    }, timerMs(ms)).unref()
    this.#delayed.set(key, { at, timer, priority })
  }

  /** Adds it later: the later, the more often work on it has failed. */
  addRateLimited(key: string, options?: AddOptions): void {
    const failures = this.failures(key)
    this.#failures.set(key, failures + 1)
    this.#metrics?.retried()
    const { shortest, longest } = this.#retryMs
    this.addAfter(key, Math.max(Math.min(shortest * 2 ** failures, longest), this.#retries.take()), options)
  }

  /** The next failure of a key counts as its first. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** Keys are worked on from now on. */
  start(): void {
    if (this.#state === 'filling') this.#state = 'working'
    this.#next()
  }

  /** Takes no more keys and lets go of those that wait; resolves when those under way are done. */
  stop(): Promise<void> {
    this.#state = 'stopped'
    this.#waiting.clear()
    this.#added.clear()
    return this.#end()
  }

  /**
   * Takes no more keys; resolves when all that wait, and those under way, are done. Those that fail are not tried
   * again.
   */
  drain(): Promise<void> {
    // What never started does not begin now.
    if (this.#state === 'filling') return this.stop()
    if (this.#state === 'working') this.#state = 'draining'
    return this.#end()
  }

  get #ends(): boolean {
    return this.#state === 'stopped' || this.#state === 'draining'
  }

  #end(): Promise<void> {
    for (const { timer } of this.#delayed.values()) clearTimeout(timer)
    this.#delayed.clear()
    this.#settle()
    return this.#idle.promise
  }

  #add(key: string, priority: number): void {
    if (this.#working.has(key)) {
      if (!this.#again.has(key)) this.#metrics?.added()
      this.#again.set(key, Math.max(priority, this.#again.get(key) ?? priority))
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
        this.#options.failed(key, error)
        if (!this.#ends) this.addRateLimited(key, { priority })
      }
    }
    this.#metrics?.done((performance.now() - began) / 1000)
    this.#working.delete(key)
    const again = this.#again.get(key)
    this.#again.delete(key)
    if (again !== undefined && this.#state !== 'stopped') {
      this.#waiting.add(key, again)
      if (this.#metrics) this.#added.set(key, performance.now())
    }
    this.#next()
    this.#settle()
  }

  /** Whether the end has come. */
  #settle(): void {
    if (this.#ends && this.#working.size === 0 && this.#waiting.size === 0) this.#idle.resolve()
  }
}
