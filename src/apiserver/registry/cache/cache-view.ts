/**
 * The result of one load of a resource: its objects, their revision, and the changes that led there, kept up to date by
 * one watch on the store. All three always match. When the watch ends, the view ends too; the cacher loads another.
 */
import { type ChangeEvent, type KeyRange, prefixRange, type Store, type Watch } from '../../../storage/store.ts'
import { type Hint, readStored } from '../conversion/read-stored.ts'
import { Packer } from '../packing/packer.ts'
import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'
import type { CacheCounts } from './cache-counts.ts'
import { ChangeHistory } from './history/change-history.ts'
import { type ChangeFeed, type ChangeListener, type ObjectChange, Removal } from './object-change.ts'
import { PositionPoll } from './position-poll.ts'
import { SortedObjects } from './sorted-objects.ts'

/** The inputs of a view. */
export interface CacheSource {
  readonly resource: ServedResource
  readonly store: Store
  /** Facts that a write knows about the value it commits, so that its event need not be parsed. */
  readonly hints: WeakMap<Buffer, Hint>
  readonly counts: CacheCounts
  readonly log: (line: string) => void
}

/** Objects per read while loading. */
const pageSize = 1000
/**
 * Time in ms that a load takes of each turn of the event loop: as much as all others took of the last turn, within
 * these bounds. With hundreds of writers, turns are long and few; a small fixed slice would make readers wait for
 * minutes.
 */
const minSliceMs = 15
const maxSliceMs = 50

export class CacheView implements ChangeFeed {
  readonly objects = new SortedObjects()
  readonly #source: CacheSource
  readonly #listeners = new Set<ChangeListener>()
  readonly #watch: Watch
  readonly #packer = new Packer()
  /** Set once the load is complete. */
  #history: ChangeHistory | undefined
  /** Deletions received while objects are still being loaded. */
  readonly #deleted = new Map<string, number>()
  #error: Error | undefined

  private constructor(source: CacheSource, after: number) {
    this.#source = source
    this.#watch = source.store.watch(prefixRange(source.resource.prefix), after, {
      wantsPrevious: false,
      events: (events) => this.#apply(events),
      end: (error) => this.#end(error),
    })
  }

  /**
   * Loads a resource while others write to it: the watch starts first, at the current revision, then all objects are
   * read page by page, and the newer state of each object wins. Needs no older history, so compaction cannot interrupt
   * it. Rejects when the store does.
   */
  static async load(source: CacheSource): Promise<CacheView> {
    const view = new CacheView(source, await source.store.currentRevision())
    try {
      await view.#load()
      return view
    } catch (error) {
      view.stop()
      throw error
    }
  }

  async #load(): Promise<void> {
    const { store, resource, counts } = this.#source
    const { start, end } = prefixRange(resource.prefix)
    let sliceStart = performance.now()
    let sliceMs = minSliceMs
    for (let from = start; ; ) {
      const page = store.list({ start: from, end, limit: pageSize })
      const { entries, more, revision } = await counts.measured('list', page)
      for (const { key, value, revision } of entries) {
        const newest = this.objects.get(key)?.revision ?? this.#deleted.get(key) ?? 0
        if (revision <= newest) continue
        const object = this.#object(key, value, revision)
        this.objects.set(object)
        this.#packer.pack(object, this.objects.bytes)
      }
      await this.#waitForWatch(revision)
      if (!more) break
      from = `${entries.at(-1)!.key}\0`
      const now = performance.now()
      if (now - sliceStart < sliceMs) continue
      await new Promise(setImmediate)
      sliceStart = performance.now()
      sliceMs = Math.min(Math.max(sliceStart - now, minSliceMs), maxSliceMs)
    }
    counts.initializations++
    counts.initEvents += this.objects.size
    this.#deleted.clear()
    this.#history = new ChangeHistory(this.revision, (change) => this.#pack(change))
  }

  /** Resolves when the watch has caught up with a read: it may be notified of a commit later than readers see it. */
  async #waitForWatch(revision: number): Promise<void> {
    const poll = new PositionPoll()
    while (!this.#error && this.#watch.position < revision) await poll.pause()
    if (this.#error) throw this.#error
  }

  get resource(): ServedResource {
    return this.#source.resource
  }

  /** The newest revision received: the objects are those of this revision. */
  get revision(): number {
    return this.#watch.position
  }

  /** Changes after `revision`, oldest first; undefined if they are no longer all in memory. */
  changesSince(revision: number): readonly ObjectChange[] | undefined {
    return this.#history?.since(revision)
  }

  /** Notifies `listener` of every change from now on. The returned function unsubscribes it. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back when the view has ended. */
  onEnd(callback: () => void): void {
    if (this.#error) callback()
    else this.subscribe({ changes: () => {}, end: callback })
  }

  stop(): void {
    this.#watch.stop()
  }

  /** Ends the view with an error, which its listeners receive. */
  end(error: Error): void {
    this.stop()
    this.#end(error)
  }

  /** The object at a revision: the cached one if it has that revision. */
  objectOf(key: string, value: Buffer, revision: number): StoredObject {
    const object = this.objects.get(key)
    return object?.revision === revision ? object : this.#object(key, value, revision)
  }

  /** The objects of a range at `revision`, at most `limit` (0: all). Rejects when history no longer reaches it. */
  async listAt(
    range: KeyRange,
    revision: number,
    limit = 0,
  ): Promise<{ readonly objects: StoredObject[]; readonly more: boolean }> {
    const { store, counts } = this.#source
    const { entries, more } = await counts.measured('list', store.list({ ...range, revision, limit }))
    return { objects: entries.map(({ key, value, revision }) => this.objectOf(key, value, revision)), more }
  }

  #object(key: string, value: Buffer, revision: number): StoredObject {
    const { resource, hints } = this.#source
    return readStored(resource, key, value, revision, hints.get(value))
  }

  #apply(events: readonly ChangeEvent[]): void {
    const { counts } = this.#source
    counts.eventsReceived += events.length
    const batch: ObjectChange[] = []
    for (const { type, key, value, revision } of events) {
      const previous = this.objects.get(key)
      if (type === 'put') {
        const object = this.#object(key, value!, revision)
        this.objects.set(object)
        batch.push({ type, revision, object, previous })
        continue
      }
      if (!this.#history) this.#deleted.set(key, revision)
      if (!previous) continue
      this.objects.delete(key)
      batch.push(new Removal(previous, revision))
    }
    if (batch.length === 0 || !this.#history) return
    this.#history.add(batch)
    counts.eventsDispatched += batch.length
    for (const listener of this.#listeners) this.#notify(listener, batch)
  }

  /** Packs an object that has not changed since a change that is now old. */
  #pack(change: ObjectChange): void {
    // Packing a removal would copy the removed object.
    if (change.type !== 'put') return
    const { object } = change
    if (this.objects.get(object.key) === object) this.#packer.pack(object, this.objects.bytes)
  }

  /** A listener that throws is removed; the others are still notified. */
  #notify(listener: ChangeListener, batch: readonly ObjectChange[]): void {
    try {
      listener.changes(batch)
    } catch (error) {
      this.#endListener(listener, error instanceof Error ? error : new Error(String(error)))
    }
  }

  #end(error: Error): void {
    this.#error = error
    for (const listener of [...this.#listeners]) this.#endListener(listener, error)
  }

  #endListener(listener: ChangeListener, error: Error): void {
    this.#listeners.delete(listener)
    try {
      listener.end(error)
    } catch (thrown) {
      this.#source.log(
        `a listener of ${this.#source.resource.prefix} threw in its end callback: ` +
          `${thrown instanceof Error ? thrown.stack : String(thrown)}`,
      )
    }
  }
}
