/**
 * The cacher of a resource: its current objects and recent changes in memory, kept up to date by one watch on the store.
 * Reads and watches are served from here; only old revisions go to the store.
 */

import { expired, internal, StatusError } from '../../../machinery/status-error.ts'
import { type ChangeEvent, CompactedError, FutureRevisionError, type KeyRange, prefixRange, type Store, type Watch } from '../../../storage/store.ts'
import type { ServedResource } from '../served-resource.ts'
import { StoredObject, type Summary, spliceRevision } from '../stored-object.ts'
import { SortedObjects } from './sorted-objects.ts'

/** A change as watches see it. For a delete, `object` is the last state under the revision of the delete. */
export interface ObjectChange {
  readonly type: 'put' | 'delete'
  readonly revision: number
  readonly object: StoredObject
  readonly previous: StoredObject | undefined
}

/** The removal of an object. Its last state is copied only if somebody looks at it. */
class Removal implements ObjectChange {
  readonly type = 'delete'
  readonly revision: number
  readonly previous: StoredObject
  #object: StoredObject | undefined

  constructor(previous: StoredObject, revision: number) {
    this.previous = previous
    this.revision = revision
  }

  get object(): StoredObject {
    return (this.#object ??= this.previous.at(this.revision))
  }
}

export interface ChangeListener {
  changes(batch: readonly ObjectChange[]): void
  /** The store's watch has ended: the server stops, or history was lost. */
  end(error: Error): void
}

/** Recent changes that are kept in memory; watches that begin earlier read the store's history. */
const historyLength = 1000
/** Trimming copies the rest, so it is done for many at once. */
const historySlack = 250

/** How long a read waits for a revision that is still to come. */
const freshnessTimeoutMs = 3000

export class Cacher {
  readonly resource: ServedResource
  readonly objects = new SortedObjects()
  readonly #store: Store
  readonly #hints: WeakMap<Buffer, Summary>
  readonly #listeners = new Set<ChangeListener>()
  #history: ObjectChange[] = []
  /** The revision from which `#history` is complete. */
  #historyStart = 0
  #ready: Promise<void> | undefined
  #loaded = false
  #watch: Watch | undefined

  /** `hints` holds what a write knows of the value it commits, so that its event need not be parsed. */
  constructor(resource: ServedResource, store: Store, hints: WeakMap<Buffer, Summary>) {
    this.resource = resource
    this.#store = store
    this.#hints = hints
  }

  /** The newest revision that reads from here show. */
  get revision(): number {
    return this.#store.revision
  }

  /** Whether all objects are here, and the store's watch goes on. */
  get loaded(): boolean {
    return this.#loaded
  }

  /** Loads the objects when first called. */
  ready(): Promise<void> {
    this.#ready ??= this.#load().catch((error) => {
      // Who asks next tries again.
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  async #load(): Promise<void> {
    const range = prefixRange(this.resource.prefix)
    const { entries, revision } = await this.#store.list(range)
    this.objects.clear()
    this.#history = []
    for (const { key, value, revision } of entries) this.objects.set(this.#object(key, value, revision))
    this.#historyStart = revision
    // Others may have written while the list was read: ready is who has seen that too.
    await new Promise<void>((resolve, reject) => {
      this.#watch = this.#store.watch(range, revision, {
        wantsPrevious: false,
        events: (events) => this.#apply(events),
        caughtUp: () => {
          this.#loaded = true
          resolve()
        },
        end: (error) => {
          this.#ready = undefined
          this.#loaded = false
          reject(error)
          for (const listener of this.#listeners) listener.end(error)
        },
      })
    })
  }

  stop(): void {
    this.#watch?.stop()
  }

  #object(key: string, value: Buffer, revision: number): StoredObject {
    return new StoredObject(this.resource, key, revision, spliceRevision(this.resource, value, revision), this.#hints.get(value))
  }

  #apply(events: readonly ChangeEvent[]): void {
    const batch: ObjectChange[] = []
    for (const { type, key, value, revision } of events) {
      const previous = this.objects.get(key)
      if (type === 'put') {
        const object = this.#object(key, value!, revision)
        this.objects.set(object)
        batch.push({ type, revision, object, previous })
      } else if (previous) {
        this.objects.delete(key)
        batch.push(new Removal(previous, revision))
      }
    }
    if (batch.length === 0) return
    this.#history.push(...batch)
    if (this.#history.length > historyLength + historySlack) {
      const dropped = this.#history.length - historyLength
      this.#historyStart = this.#history[dropped - 1]!.revision
      this.#history = this.#history.slice(dropped)
    }
    for (const listener of this.#listeners) listener.changes(batch)
  }

  /** Waits until the cache shows at least `revision`: 504 after three seconds. */
  async waitFor(revision: number): Promise<void> {
    await this.ready()
    if (revision <= this.revision) return
    const deadline = performance.now() + freshnessTimeoutMs
    while (performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      if (revision <= this.revision) return
    }
    throw new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${revision}, current: ${this.revision}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    })
  }

  /** The objects of a range as they were at `revision`, at most `limit`. Throws 410 when history no longer reaches it. */
  async listAt(range: KeyRange, revision: number, limit: number): Promise<{ objects: StoredObject[]; more: boolean }> {
    try {
      const { entries, more } = await this.#store.list({ ...range, revision, limit })
      return { objects: entries.map(({ key, value, revision }) => this.#known(key, revision) ?? this.#object(key, value, revision)), more }
    } catch (error) {
      if (error instanceof CompactedError) throw expired()
      if (error instanceof FutureRevisionError) throw internal(error.message)
      throw error
    }
  }

  #known(key: string, revision: number): StoredObject | undefined {
    const object = this.objects.get(key)
    return object?.revision === revision ? object : undefined
  }

  /** Tells `listener` every change from now on. The returned function ends that. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Changes after `revision`, oldest first; undefined if they are no longer all in memory. */
  changesSince(revision: number): readonly ObjectChange[] | undefined {
    if (revision < this.#historyStart) return undefined
    const history = this.#history
    let low = 0
    let high = history.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (history[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low === history.length ? [] : history.slice(low)
  }

  /** Changes after `revision` through a newer one, read from the store's history. Rejects with a 410 StatusError when it is compacted. */
  replay(range: KeyRange, revision: number): Promise<{ readonly changes: ObjectChange[]; readonly through: number }> {
    const target = this.revision
    const batch: ObjectChange[] = []
    return new Promise((resolve, reject) => {
      let watch: Watch | undefined
      let done = false
      const finish = (error?: Error): void => {
        if (done) return
        done = true
        queueMicrotask(() => watch?.stop())
        if (!error) resolve({ changes: batch, through: target })
        else reject(error instanceof CompactedError ? expired(`too old resource version: ${revision} (${error.compactedRevision})`) : error)
      }
      watch = this.#store.watch(range, revision, {
        events: (events) => {
          for (const { type, key, value, revision, previous } of events) {
            if (revision > target) return finish()
            const before = previous && (this.#known(key, previous.revision) ?? this.#object(key, previous.value, previous.revision))
            if (type === 'put') batch.push({ type, revision, object: this.#known(key, revision) ?? this.#object(key, value!, revision), previous: before })
            else if (before) batch.push(new Removal(before, revision))
          }
        },
        caughtUp: () => finish(),
        end: finish,
      })
    })
  }
}
