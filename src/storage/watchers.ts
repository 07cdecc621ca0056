/**
 * The watchers of one store: live ones are told of each commit, late ones are led through history in short steps until they
 * have caught up, and then join the live ones without a gap. Knows nothing of where history is kept.
 */
import { withinRange } from './key-order.ts'
import { type ChangeEvent, CompactedError, type KeyRange, type Observer, type Watch } from './store.ts'

/** What a store lends to its watchers. */
export interface History {
  readonly revision: number
  readonly compactedRevision: number
  /**
   * The changes after revision `after` whose key matches, in order, and the revision up to which they are complete.
   * Stops at the end of a revision when `enough` says so.
   */
  changes(after: number, matches: (key: string) => boolean, enough: (events: number) => boolean): { readonly events: ChangeEvent[]; readonly through: number }
}

interface Watcher {
  readonly matches: (key: string) => boolean
  readonly observer: Observer
  /** The watcher has been told of everything up to this revision. */
  position: number
  /** The store's revision when the watch began: there it has caught up. 0 once it was told so. */
  target: number
}

/** Milliseconds that all late watchers together may take from one turn of the event loop. */
const turnMs = 4
const eventsPerCall = 250

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
    const watcher: Watcher = { matches: withinRange(range), observer, position: after === 0 ? revision : after, target: revision }
    const current = watcher.position >= revision && !this.#ended
    if (current) this.#live.add(watcher)
    else this.#late.add(watcher)
    if (current && observer.caughtUp) setImmediate(() => this.#caughtUp(watcher))
    if (!current) this.#lead()
    return { stop: () => this.#remove(watcher) }
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

  /** Tells live watchers of what has just become durable. The store's revision is the events' newest by now. */
  publish(events: readonly ChangeEvent[]): void {
    if (events.length === 0) return
    const newest = events[events.length - 1]!.revision
    for (const watcher of this.#live) {
      // One that was added by another's observer during this very call has nothing to hear.
      if (watcher.position >= newest) continue
      const { position, matches } = watcher
      const wanted = (event: ChangeEvent) => event.revision > position && matches(event.key)
      const mine = events.every(wanted) ? events : events.filter(wanted)
      watcher.position = newest
      if (mine.length > 0) this.#tell(watcher, mine)
    }
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
    const over = this.#ended ?? (watcher.position < compactedRevision ? new CompactedError(watcher.position, compactedRevision) : undefined)
    if (over) {
      this.#end(watcher, over)
      return
    }
    const enough = (events: number) => events >= eventsPerCall || performance.now() >= deadline
    const { events, through } = this.#history.changes(watcher.position, watcher.matches, enough)
    watcher.position = through
    this.#late.delete(watcher)
    // It goes live before it is told, so that a commit made by its observer is not missed.
    if (through >= this.#history.revision) this.#live.add(watcher)
    else this.#late.add(watcher)
    if (events.length > 0) this.#tell(watcher, events)
    this.#caughtUp(watcher)
  }

  #caughtUp(watcher: Watcher): void {
    if (watcher.target === 0 || watcher.position < watcher.target || !(this.#live.has(watcher) || this.#late.has(watcher))) return
    watcher.target = 0
    watcher.observer.caughtUp?.()
  }

  #tell(watcher: Watcher, events: readonly ChangeEvent[]): void {
    try {
      watcher.observer.events(events)
    } catch (error) {
      // A broken observer must neither fail the commit nor keep events from the others.
      this.#end(watcher, error instanceof Error ? error : new Error(String(error)))
    }
  }

  #end(watcher: Watcher, error: Error): void {
    if (this.#remove(watcher)) watcher.observer.end(error)
  }

  #remove(watcher: Watcher): boolean {
    const live = this.#live.delete(watcher)
    const late = this.#late.delete(watcher)
    return live || late
  }
}
