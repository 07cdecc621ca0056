/**
 * The watchers of one store. Live watchers receive each commit immediately; late ones read history in short steps until
 * they have caught up, then become live without a gap. Independent of how history is stored.
 */
import { type ChangeLog, readPortion } from './history.ts'
import { withinRange } from './key-order.ts'
import {
  type ChangeEvent,
  type Changes,
  CompactedError,
  type KeyRange,
  type Observer,
  type PortionSize,
  type Watch,
} from './store.ts'

/** The part of a store that watchers need. */
export interface History extends ChangeLog {
  readonly compactedRevision: number
}

interface Watcher extends Watch {
  readonly matches: (key: string) => boolean
  readonly observer: Observer
  /** The watcher has received all events up to this revision. */
  position: number
}

/** Maximum time in ms that all late watchers together use in one turn of the event loop. */
const turnMs = 4
const stepSize: PortionSize = { events: 500, bytes: 4 * 1024 * 1024 }

export class Watchers {
  readonly #history: History
  readonly #live = new Set<Watcher>()
  readonly #late = new Set<Watcher>()
  #isCatchUpScheduled = false
  /** The error with which all watches ended. */
  #ended: Error | undefined

  constructor(history: History) {
    this.#history = history
  }

  /** Starts a watch as described at `Store.watch`. The observer is never called before this returns. */
  add(range: KeyRange, after: number, observer: Observer): Watch {
    const { revision } = this.#history
    const watcher: Watcher = {
      matches: withinRange(range),
      observer,
      position: after,
      stop: () => this.#remove(watcher),
    }
    const current = after >= revision && !this.#ended
    if (current) {
      this.#live.add(watcher)
      if (observer.caughtUp) setImmediate(() => this.#caughtUp(watcher))
    } else {
      this.#late.add(watcher)
      this.#scheduleCatchUp()
    }
    return watcher
  }

  /** Returns the parts of a change of this key that live watchers need. */
  interest(key: string): 'none' | 'change' | 'change and previous' {
    let interest: 'none' | 'change' = 'none'
    for (const { matches, observer } of this.#live) {
      if (!matches(key)) continue
      if (observer.wantsPrevious !== false) return 'change and previous'
      interest = 'change'
    }
    return interest
  }

  /** Delivers durable `events` to live watchers; `revision` is the store's new revision. */
  publish(events: readonly ChangeEvent[], revision: number): void {
    for (const watcher of this.#live) {
      const { position, matches } = watcher
      // Watchers added by an observer during this call are up to date already.
      if (position >= revision) continue
      watcher.position = revision
      if (events.length === 0) continue
      const wanted = (event: ChangeEvent) => event.revision > position && matches(event.key)
      const mine = events.every(wanted) ? events : events.filter(wanted)
      if (mine.length > 0) this.#notify(watcher, (observer) => observer.events(mine))
    }
  }

  /** Ends all live watches, since an event cannot be delivered. */
  endLive(error: Error): void {
    for (const watcher of this.#live) this.#end(watcher, error)
  }

  /** Ends all watches, including future ones. */
  endAll(error: Error): void {
    this.#ended = error
    for (const watcher of [...this.#live, ...this.#late]) this.#end(watcher, error)
  }

  #scheduleCatchUp(): void {
    if (this.#isCatchUpScheduled) return
    this.#isCatchUpScheduled = true
    setImmediate(() => {
      this.#isCatchUpScheduled = false
      const deadline = performance.now() + turnMs
      for (const watcher of this.#late) {
        this.#step(watcher, deadline)
        if (performance.now() >= deadline) break
      }
      if (this.#late.size > 0) this.#scheduleCatchUp()
    })
  }

  /** Delivers one portion of history; the watcher then moves to the end of the queue or becomes live. */
  #step(watcher: Watcher, deadline: number): void {
    const { compactedRevision } = this.#history
    const over =
      this.#ended ??
      (watcher.position < compactedRevision ? new CompactedError(watcher.position, compactedRevision) : undefined)
    if (over) {
      this.#end(watcher, over)
      return
    }
    let portion: Changes
    try {
      portion = readPortion(this.#history, watcher.position, watcher.matches, stepSize, deadline)
    } catch (error) {
      this.#end(watcher, error as Error)
      return
    }
    const { events, through } = portion
    watcher.position = through
    this.#late.delete(watcher)
    // Becomes live before its observer is called, so that a commit by the observer is not missed.
    const live = through >= this.#history.revision
    if (live) this.#live.add(watcher)
    else this.#late.add(watcher)
    if (events.length > 0) this.#notify(watcher, (observer) => observer.events(events))
    if (live) this.#caughtUp(watcher)
  }

  #caughtUp(watcher: Watcher): void {
    if (this.#live.has(watcher)) this.#notify(watcher, (observer) => observer.caughtUp?.())
  }

  /** Calls an observer. If it throws, its watch ends, and neither the commit nor other watches are affected. */
  #notify(watcher: Watcher, call: (observer: Observer) => void): void {
    try {
      call(watcher.observer)
    } catch (error) {
      this.#end(watcher, error instanceof Error ? error : new Error(String(error)))
    }
  }

  #end(watcher: Watcher, error: Error): void {
    if (!this.#remove(watcher)) return
    try {
      watcher.observer.end(error)
    } catch (thrown) {
      process.emitWarning(
        'an observer of the store failed while its watch ended: ' +
          `${thrown instanceof Error ? thrown.stack : String(thrown)}`,
        'StoreWarning',
      )
    }
  }

  #remove(watcher: Watcher): boolean {
    const live = this.#live.delete(watcher)
    const late = this.#late.delete(watcher)
    return live || late
  }
}
