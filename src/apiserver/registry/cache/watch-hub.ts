/**
 * Fans changes of a resource out to its watches. Watches that want the same (selection and representation) form a
 * group: what a batch of changes means to them is worked out and encoded once, and all of them write the same buffer.
 */

import { isOnePortion } from './history/past-changes.ts'
import type { ChangeFeed, ObjectChange } from './object-change.ts'
import { type EncodedBatch, encodeChanges, type WatchForm } from './watch-event.ts'

/** One watch of one client. */
export interface Watcher {
  /** Gets events in order of revision. `events` of one batch come together. */
  deliver(batch: EncodedBatch): void
  end(error: Error): void
}

/** A watch's place in its group. */
export interface Membership {
  /** Delivers what is held back, so that all there is up to now has been delivered. */
  flush(): void
  leave(): void
  /** Everything up to here has been delivered or is held back. */
  readonly revision: number
}

type Log = (line: string) => void

/**
 * Under load, changes are held back for a while, so that many go out in one write: the longer, the more watches have to
 * be written to, some 50 µs each. A change that comes after a quiet time goes out at once.
 */
const leastHeldMs = 5
const mostHeldMs = 25
const heldMsPerWatch = 0.5

class Group {
  readonly #form: WatchForm
  readonly #log: Log
  readonly watchers = new Set<Watcher>()
  #held: ObjectChange[] = []
  #delivered = 0
  #timer: NodeJS.Timeout | undefined

  constructor(form: WatchForm, log: Log) {
    this.#form = form
    this.#log = log
  }

  /** Takes changes in, and delivers them now or a little later. */
  take(changes: readonly ObjectChange[]): void {
    for (const change of changes) this.#held.push(change)
    if (this.#timer) return
    const quiet = performance.now() - this.#delivered
    const heldMs = Math.min(Math.max(leastHeldMs, this.watchers.size * heldMsPerWatch), mostHeldMs)
    if (quiet >= heldMs) this.flush()
    else this.#timer = setTimeout(() => this.flush(), heldMs - quiet)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#held.length === 0) return
    const held = this.#held
    this.#held = []
    this.#delivered = performance.now()
    this.send(held, this.watchers)
  }

  /** A fault in what encodes these watches ends them and nothing else; one of a single watch ends that. */
  send(changes: readonly ObjectChange[], watchers: Iterable<Watcher>): void {
    let batch: EncodedBatch | undefined
    try {
      batch = encodeChanges(changes, this.#form)
    } catch (error) {
      for (const watcher of [...watchers]) this.fail(watcher, error)
      return
    }
    if (!batch) return
    for (const watcher of watchers) {
      try {
        watcher.deliver(batch)
      } catch (error) {
        this.fail(watcher, error)
      }
    }
  }

  fail(watcher: Watcher, error: unknown): void {
    this.#log(
      `a watch of ${this.#form.resource.definition.plural} has ended: ` +
        `${error instanceof Error ? error.stack : String(error)}`,
    )
    this.end(watcher, error instanceof Error ? error : new Error(String(error)))
  }

  end(watcher: Watcher, error: Error): void {
    this.watchers.delete(watcher)
    try {
      watcher.end(error)
    } catch (thrown) {
      this.#log(
        `a watch of ${this.#form.resource.definition.plural} failed at its end: ` +
          `${thrown instanceof Error ? thrown.stack : String(thrown)}`,
      )
    }
  }
}

export class WatchHub {
  readonly #log: Log
  readonly #groups = new Map<string, Group>()
  #subscription: { readonly feed: ChangeFeed; readonly end: () => void } | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * Adds a watch that has seen everything up to `revision`, if what happened since is in memory and little: that is
   * delivered before this returns, live changes follow. Undefined if there is more, which the watch has to read first.
   */
  join(feed: ChangeFeed, form: WatchForm, revision: number, watcher: Watcher): Membership | undefined {
    const missed = feed.changesSince(revision)
    if (!missed || !isOnePortion(missed)) return undefined
    const key = `${form.resource.groupVersion}\0${form.selection.key}\0${form.representation.key}`
    let group = this.#groups.get(key)
    if (!group) this.#groups.set(key, (group = new Group(form, this.#log)))
    // What the group holds back is part of what this watch has missed.
    group.flush()
    group.watchers.add(watcher)
    this.#subscribe(feed)
    if (missed.length > 0) group.send(missed, [watcher])
    return {
      flush: () => group.flush(),
      leave: () => this.#leave(key, group, watcher),
      get revision() {
        return feed.revision
      },
    }
  }

  #subscribe(feed: ChangeFeed): void {
    if (this.#subscription?.feed === feed) return
    this.#subscription?.end()
    const end = feed.subscribe({ changes: (batch) => this.#deliver(batch), end: (error) => this.#end(error) })
    this.#subscription = { feed, end }
  }

  #leave(key: string, group: Group, watcher: Watcher): void {
    group.watchers.delete(watcher)
    if (group.watchers.size === 0) {
      group.flush()
      if (this.#groups.get(key) === group) this.#groups.delete(key)
    }
    if (this.#groups.size > 0) return
    this.#subscription?.end()
    this.#subscription = undefined
  }

  #deliver(changes: readonly ObjectChange[]): void {
    for (const group of this.#groups.values()) group.take(changes)
  }

  /** The view is over: its watches end, those of the next one begin anew. */
  #end(error: Error): void {
    const groups = [...this.#groups.values()]
    this.#groups.clear()
    this.#subscription = undefined
    for (const group of groups) {
      group.flush()
      for (const watcher of [...group.watchers]) group.end(watcher, error)
    }
  }
}
