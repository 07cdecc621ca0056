/**
 * Runs the syncs of one mode: after changes, but not more often than an interval allows; periodically, as a check; and
 * in full, with a back-off, after a failure.
 */

/** Calls back after `ms`; the returned function cancels that. */
export type Schedule = (callback: () => void, ms: number) => () => void

/** Changes only; a check that others have removed nothing; or everything. */
export type SyncScope = 'changes' | 'check' | 'all'

export interface SyncRunnerOptions {
  /** Rejects if something is not in effect. */
  readonly sync: (scope: SyncScope) => Promise<void>
  /** Called with the error of a sync and the time in ms until the next one. */
  readonly onFailure: (error: unknown, retryMs: number) => void
  /** Shortest interval of syncs in ms, after a burst of two. */
  readonly minIntervalMs: number
  /** Interval of checks in ms. */
  readonly periodMs: number
  readonly schedule: Schedule
  /** A time in ms that never goes back. */
  readonly now: () => number
}

/** Syncs that may follow each other immediately: a Service and its first endpoints arrive one after the other. */
const burst = 2
const firstRetryMs = 1_000

export class SyncRunner {
  readonly #options: SyncRunnerOptions
  #isWanted = false
  #scope: SyncScope = 'all'
  #running: Promise<void> | undefined
  #isStopped = false
  #failures = 0
  #tokens = burst
  #tokensAt: number
  #cancel: (() => void) | undefined
  #cancelPeriod: (() => void) | undefined

  /** Nothing runs before `start`. */
  constructor(options: SyncRunnerOptions) {
    this.#options = options
    this.#tokensAt = options.now()
  }

  /** Starts the first, full sync. */
  start(): void {
    this.#schedulePeriod()
    this.#isWanted = true
    this.#plan()
  }

  /** Wants a sync as soon as the interval allows one. */
  request(scope: SyncScope = 'changes'): void {
    if (this.#scope !== 'all' && scope !== 'changes') this.#scope = scope
    this.#isWanted = true
    // Before the start, and during back-off, the next sync is planned already.
    if (this.#cancelPeriod && this.#failures === 0) this.#plan()
  }

  /** Resolves when a running sync has ended; no other follows. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    this.#cancelPeriod?.()
    await this.#running
  }

  #schedulePeriod(): void {
    this.#cancelPeriod = this.#options.schedule(() => {
      this.#schedulePeriod()
      this.request('check')
    }, this.#options.periodMs)
  }

  #plan(): void {
    if (this.#isStopped || this.#running || this.#cancel) return
    const delay = this.#delay()
    if (delay > 0) this.#runAfter(delay)
    else this.#run()
  }

  #runAfter(ms: number): void {
    this.#cancel = this.#options.schedule(() => {
      this.#cancel = undefined
      this.#run()
    }, ms)
  }

  /** The time in ms until the interval allows a sync. */
  #delay(): number {
    const { minIntervalMs, now } = this.#options
    if (minIntervalMs === 0) return 0
    const at = now()
    this.#tokens = Math.min(burst, this.#tokens + (at - this.#tokensAt) / minIntervalMs)
    this.#tokensAt = at
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) * minIntervalMs)
  }

  #run(): void {
    this.#delay()
    this.#tokens = Math.max(0, this.#tokens - 1)
    const scope = this.#scope
    this.#isWanted = false
    this.#scope = 'changes'
    this.#running = this.#sync(scope).finally(() => {
      this.#running = undefined
      if (this.#isWanted && this.#failures === 0) this.#plan()
    })
  }

  async #sync(scope: SyncScope): Promise<void> {
    try {
      await this.#options.sync(scope)
      this.#failures = 0
    } catch (error) {
      const retryMs = Math.min(this.#options.periodMs, firstRetryMs * 2 ** this.#failures)
      this.#failures++
      this.#scope = 'all'
      if (this.#isStopped) return
      this.#options.onFailure(error, retryMs)
      this.#runAfter(retryMs)
    }
  }
}
