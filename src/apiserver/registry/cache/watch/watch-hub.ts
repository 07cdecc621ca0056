/**
 * Fans changes of a resource out to its watches. Watches with the same selection and representation form a group: a
 * batch of changes is filtered and encoded once for the group, and all its watches write the same buffer.
 */

import { isOnePortion } from '../history/past-changes.ts'
import type { ChangeFeed, ObjectChange } from '../object-change.ts'
import { type EncodedBatch, encodeChanges, type WatchForm } from './watch-event.ts'

/** One watch of one client. */
export interface Watcher {
  /** Receives events in order of revision. The events of one batch come together. */
  deliver(batch: EncodedBatch): void
  end(error: Error): void
}

/** A watch's place in its group. */
export interface Membership {
  /** Delivers buffered changes, so that all changes up to now have been delivered. */
  flush(): void
  leave(): void
  /** Everything up to this revision has been delivered or is buffered. */
  readonly revision: number
}

type Log = (line: string) => void

/**
 * Under load, changes are buffered for a short time, so that many go out in one write: the more watches there are to
 * write to, some 50 µs each, the longer. A change after a quiet time is sent immediately. In ms.
 */
const minBufferMs = 5
const maxBufferMs = 25
const bufferMsPerWatch = 0.5

class Group {
  readonly #form: WatchForm
  readonly #log: Log
  readonly watchers = new Set<Watcher>()
  #buffered: ObjectChange[] = []
  #delivered = 0
  #timer: NodeJS.Timeout | undefined

  constructor(form: WatchForm, log: Log) {
    this.#form = form
    this.#log = log
  }

  /** Buffers changes, and delivers them now or a little later. */
  add(changes: readonly ObjectChange[]): void {
    for (const change of changes) this.#buffered.push(change)
    if (this.#timer) return
    const quiet = performance.now() - this.#delivered
    const bufferMs = Math.min(Math.max(minBufferMs, this.watchers.size * bufferMsPerWatch), maxBufferMs)
    if (quiet >= bufferMs) this.flush()
    else this.#timer = setTimeout(() => this.flush(), bufferMs - quiet)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#buffered.length === 0) return
    const changes = this.#buffered
    this.#buffered = []
    this.#delivered = performance.now()
    this.send(changes, this.watchers)
  }

  /** An error in the encoding ends all watches of the group; an error of a single watch ends that one only. */
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
        `a watch of ${this.#form.resource.definition.plural} threw in its end callback: ` +
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
   * Adds a watch that has received everything up to `revision`, if the changes since are in memory and fit into one
   * portion: they are delivered before this returns, live changes follow. Undefined if there are more, which the watch
   * has to read first.
   */
  join(feed: ChangeFeed, form: WatchForm, revision: number, watcher: Watcher): Membership | undefined {
    const missed = feed.changesSince(revision)
    if (!missed || !isOnePortion(missed)) return undefined
    const key = `${form.resource.groupVersion}\0${form.selection.key}\0${form.representation.key}`
    let group = this.#groups.get(key)
    if (!group) this.#groups.set(key, (group = new Group(form, this.#log)))
    // Changes that the group buffers are among those this watch has missed.
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
    for (const group of this.#groups.values()) group.add(changes)
  }

  /** The view has ended: its watches end too, and clients start new ones on the next view. */
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
