/**
 * The watchers of one store: live ones are told of each commit, late ones are led through history in short steps until
 * they have caught up, and then join the live ones without a gap. Knows nothing of where history is kept.
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

/** What a store lends to its watchers. */
export interface History extends ChangeLog {
  readonly compactedRevision: number
}

interface Watcher extends Watch {
  readonly matches: (key: string) => boolean
  readonly observer: Observer
  /** The watcher has been told of everything up to this revision. */
  position: number
}

/** Milliseconds that all late watchers together may take from one turn of the event loop. */
const turnMs = 4
const stepSize: PortionSize = { events: 500, bytes: 4 * 1024 * 1024 }

export class Watchers {
  readonly #history: History
  readonly #live = new Set<Watcher>()
  readonly #late = new Set<Watcher>()
  #leading = false
  /** Why there are no watches any more. */
  #ended: Error | undefined

  constructor(history: History) {
    this.#history = history
  }

  /** Starts a watch as `Store.watch` promises. The observer is never called before this returns. */
  add(range: KeyRange, after: number, observer: Observer): Watch {
    const { revision } = this.#history
    const watcher: Watcher = {
      matches: withinRange(range),
      observer,
      position: after === 0 ? revision : after,
      stop: () => this.#remove(watcher),
    }
    const current = watcher.position >= revision && !this.#ended
    if (current) {
      this.#live.add(watcher)
      if (observer.caughtUp) setImmediate(() => this.#caughtUp(watcher))
    } else {
      this.#late.add(watcher)
      this.#lead()
    }
    return watcher
  }

  /** What live watchers want to hear of a change of this key. */
  interest(key: string): 'none' | 'change' | 'change and previous' {
    let interest: 'none' | 'change' = 'none'
    for (const { matches, observer } of this.#live) {
      if (!matches(key)) continue
      if (observer.wantsPrevious !== false) return 'change and previous'
      interest = 'change'
    }
    return interest
  }

  /** Tells live watchers of what has just become durable: `events` up to `revision`, which is the store's by now. */
  publish(events: readonly ChangeEvent[], revision: number): void {
    for (const watcher of this.#live) {
      const { position, matches } = watcher
      // One that was added by another's observer during this very call has nothing to hear.
      if (position >= revision) continue
      watcher.position = revision
      if (events.length === 0) continue
      const wanted = (event: ChangeEvent) => event.revision > position && matches(event.key)
      const mine = events.every(wanted) ? events : events.filter(wanted)
      if (mine.length > 0) this.#tell(watcher, (observer) => observer.events(mine))
    }
  }

  /** Ends the watches that are live: they cannot be told what has happened. */
  endLive(error: Error): void {
    for (const watcher of this.#live) this.#end(watcher, error)
  }

  /** Ends all watches, those to come as well. */
  endAll(error: Error): void {
    this.#ended = error
    for (const watcher of [...this.#live, ...this.#late]) this.#end(watcher, error)
  }

  #lead(): void {
    if (this.#leading) return
    this.#leading = true
    setImmediate(() => {
      this.#leading = false
      const deadline = performance.now() + turnMs
      for (const watcher of this.#late) {
        this.#step(watcher, deadline)
        if (performance.now() >= deadline) break
      }
      if (this.#late.size > 0) this.#lead()
    })
  }

  /** Delivers one portion of history; the watcher then goes to the end of the queue, or live. */
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
    // It goes live before it is told, so that a commit made by its observer is not missed.
    const live = through >= this.#history.revision
    if (live) this.#live.add(watcher)
    else this.#late.add(watcher)
    if (events.length > 0) this.#tell(watcher, (observer) => observer.events(events))
    if (live) this.#caughtUp(watcher)
  }

  #caughtUp(watcher: Watcher): void {
    if (this.#live.has(watcher)) this.#tell(watcher, (observer) => observer.caughtUp?.())
  }

  /** A broken observer must neither fail a commit nor keep events from the others: its watch ends. */
  #tell(watcher: Watcher, tell: (observer: Observer) => void): void {
    try {
      tell(watcher.observer)
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
