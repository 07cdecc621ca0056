/**
 * Fans changes of a resource out to its watches. Watches that want the same (selection and representation) form a
 * group: what a batch of changes means to them is worked out and encoded once, and all of them write the same buffer.
 */
import type { EventType, Representation } from '../../negotiation/representation.ts'
import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'
import type { Cacher, ObjectChange } from './cacher.ts'
import type { Selection } from './selection.ts'

/** One watch of one client. */
export interface Watcher {
  /** Gets events in order of revision. `events` of one batch come together. */
  deliver(batch: EncodedBatch): void
  end(error: Error): void
}

export interface WatchEvent {
  readonly type: EventType
  readonly object: StoredObject
}

/** The events of a batch, encoded when first asked for. */
export class EncodedBatch {
  readonly events: readonly WatchEvent[]
  readonly #representation: Representation
  #bytes: Buffer | undefined

  constructor(events: readonly WatchEvent[], representation: Representation) {
    this.events = events
    this.#representation = representation
  }

  get bytes(): Buffer {
    return (this.#bytes ??= this.#encode(false))
  }

  /** For a watch that has sent nothing yet, where that makes a difference. */
  get firstBytes(): Buffer {
    return this.#representation.firstDiffers ? this.#encode(true) : this.bytes
  }

  /** What of it is newer than `revision`; undefined if nothing is. */
  after(revision: number): EncodedBatch | undefined {
    const { events } = this
    if (events.length > 0 && events[0]!.object.revision > revision) return this
    const newer = events.filter(({ object }) => object.revision > revision)
    return newer.length ? new EncodedBatch(newer, this.#representation) : undefined
  }

  #encode(first: boolean): Buffer {
    const lines = this.events.map(({ type, object }, i) => this.#representation.event(type, object, first && i === 0))
    return lines.length === 1 ? lines[0]! : Buffer.concat(lines)
  }
}

/** What a change is to a watch with a selection: objects come into it, change in it, and leave it. */
export function eventOf({ type, object, previous }: ObjectChange, selection: Selection): WatchEvent | undefined {
  const isIn = type === 'put' && selection.matches(object)
  const wasIn = previous !== undefined && selection.matches(previous)
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object }
  if (wasIn) return { type: 'DELETED', object: type === 'delete' ? object : previous.at(object.revision) }
  return undefined
}

/** The objects as a served resource shows them: itself for its own, converted for other versions. */
export type View = (object: StoredObject) => StoredObject

/** A watch's place in its group. */
export interface Membership {
  /** Delivers what is held back, so that all there is up to now has been delivered. */
  flush(): void
  leave(): void
}

/**
 * Under load, changes are held back for this long, so that many go out in one write. A change that comes after a quiet
 * time goes out at once.
 */
const coalesceMs = 5

class Group {
  readonly #resource: ServedResource
  readonly #selection: Selection
  readonly #representation: Representation
  readonly #view: View
  readonly watchers = new Set<Watcher>()
  #held: ObjectChange[] = []
  #delivered = 0
  #timer: NodeJS.Timeout | undefined

  constructor(resource: ServedResource, selection: Selection, representation: Representation, view: View) {
    this.#resource = resource
    this.#selection = selection
    this.#representation = representation
    this.#view = view
  }

  /** Takes changes in, and delivers them now or a little later. */
  take(changes: readonly ObjectChange[]): void {
    this.#held.push(...changes)
    if (this.#timer) return
    const quiet = performance.now() - this.#delivered
    if (quiet >= coalesceMs) this.flush()
    else this.#timer = setTimeout(() => this.flush(), coalesceMs - quiet)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#held.length === 0) return
    const batch = this.encode(this.#held)
    this.#held = []
    this.#delivered = performance.now()
    if (batch) for (const watcher of this.watchers) watcher.deliver(batch)
  }

  encode(batch: readonly ObjectChange[]): EncodedBatch | undefined {
    const events: WatchEvent[] = []
    for (const change of batch) {
      const event = eventOf(viewed(change, this.#resource, this.#view), this.#selection)
      if (event) events.push(event)
    }
    return events.length ? new EncodedBatch(events, this.#representation) : undefined
  }
}

const viewed = (change: ObjectChange, resource: ServedResource, view: View): ObjectChange =>
  resource.storage === resource
    ? change
    : { type: change.type, revision: change.revision, object: view(change.object), previous: change.previous && view(change.previous) }

export class WatchHub {
  readonly #cacher: Cacher
  readonly #groups = new Map<string, Group>()
  #unsubscribe: (() => void) | undefined

  constructor(cacher: Cacher) {
    this.#cacher = cacher
  }

  /**
   * Adds a watch that has seen everything up to `revision`; what happened since is delivered before this returns, live
   * changes follow. Rejects with 410 if history no longer reaches `revision`.
   */
  async join(
    resource: ServedResource,
    selection: Selection,
    representation: Representation,
    view: View,
    revision: number,
    watcher: Watcher,
  ): Promise<Membership> {
    let history = this.#cacher.changesSince(revision)
    const past: ObjectChange[] = []
    for (let seen = revision; !history; ) {
      const { changes, through } = await this.#cacher.replay(resource.range(''), seen)
      past.push(...changes)
      seen = through
      // While the store was read more may have happened, in the end so little that memory has all of it.
      const rest = this.#cacher.changesSince(seen)
      if (rest) history = [...past, ...rest]
    }
    const key = `${resource.groupVersion}\0${selection.key}\0${representation.key}`
    let group = this.#groups.get(key)
    if (!group) this.#groups.set(key, (group = new Group(resource, selection, representation, view)))
    // What the group holds back is part of this watch's history already.
    group.flush()
    const batch = history.length ? group.encode(history) : undefined
    if (batch) watcher.deliver(batch)
    group.watchers.add(watcher)
    this.#unsubscribe ??= this.#cacher.subscribe({ changes: (batch) => this.#deliver(batch), end: (error) => this.#end(error) })
    return { flush: () => group.flush(), leave: () => this.#leave(key, group, watcher) }
  }

  #leave(key: string, group: Group, watcher: Watcher): void {
    group.watchers.delete(watcher)
    if (group.watchers.size === 0) {
      group.flush()
      if (this.#groups.get(key) === group) this.#groups.delete(key)
    }
    if (this.#groups.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  #deliver(changes: readonly ObjectChange[]): void {
    for (const group of this.#groups.values()) group.take(changes)
  }

  #end(error: Error): void {
    for (const group of this.#groups.values()) {
      group.flush()
      for (const watcher of [...group.watchers]) watcher.end(error)
    }
  }
}
