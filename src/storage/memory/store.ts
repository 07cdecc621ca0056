/** The driver without a disk: all versions of all keys in memory. A commit is durable immediately. */
import type { Clock } from '../../lib/clock/clock.ts'
import { deadlineRange, Expiry } from '../expiry/expiry.ts'
import { defaultPortion, readPortion } from '../history.ts'
import { withinRange } from '../key-order.ts'
import { type Version, VersionIndex } from '../mvcc/version-index.ts'
import {
  type ChangeEvent,
  type Changes,
  type CommitResult,
  CompactedError,
  type Entry,
  FutureRevisionError,
  type KeyRange,
  type ListOptions,
  type ListResult,
  type Observer,
  type Store,
  StoreClosedError,
  type Transaction,
  type Watch,
} from '../store.ts'
import { checkTransaction } from '../transaction-check.ts'
import { type History, Watchers } from '../watchers.ts'

/** Maximum time in ms that a portion of history or of a compaction blocks the event loop. */
const sliceMs = 4
/** Estimated bytes of a version besides its value. */
const versionBytes = 200

export class MemoryStore implements Store, History {
  readonly #index = new VersionIndex<Buffer>()
  readonly #watchers = new Watchers(this)
  readonly #expiry: Expiry
  /**
   * Changes not delivered yet. Queued because an observer may commit while others have not received the last commit.
   */
  readonly #outbox: { readonly events: readonly ChangeEvent[]; readonly revision: number }[] = []
  #publishing = false
  #compaction = Promise.resolve()
  #closed = false
  readonly isShared = false
  readonly problem = undefined
  revision = 1
  compactedRevision = 0
  historyBytes = 0

  /** With `saved`, the store continues from saved entries; older revisions are compacted. `clock`: of times to live. */
  constructor(saved?: { readonly entries: readonly Entry[]; readonly revision: number }, clock?: Clock) {
    if (saved) {
      this.revision = saved.revision
      this.compactedRevision = saved.revision
      this.#index.fill(
        saved.entries.toSorted((a, b) => a.revision - b.revision),
        saved.revision,
      )
    }
    const { start, end } = deadlineRange
    this.#expiry = new Expiry(
      this,
      Array.from(this.#index.range(start, end, this.revision), ({ key }) => key),
      clock,
    )
  }

  async currentRevision(): Promise<number> {
    return this.#readable()
  }

  async get(key: string, revision?: number): Promise<Entry | undefined> {
    return entryOf(this.#index.at(key, this.#readable(revision)))
  }

  async list({ start, end, limit, revision }: ListOptions): Promise<ListResult> {
    const at = this.#readable(revision)
    const entries: Entry[] = []
    for (const version of this.#index.range(start, end, at)) {
      if (limit && entries.length === limit) return { entries, revision: at, more: true }
      entries.push(entryOf(version)!)
    }
    return { entries, revision: at, more: false }
  }

  async count({ start, end, revision }: ListOptions): Promise<number> {
    return this.#index.count(start, end, this.#readable(revision))
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    if (this.#closed) throw new StoreClosedError()
    checkTransaction(transaction)
    const { conditions } = transaction
    if (conditions.some(({ key, revision }) => (this.#newest(key)?.revision ?? 0) !== revision)) {
      return { committed: false, current: conditions.map(({ key }) => this.#newest(key)) }
    }
    const operations = this.#expiry.prepare(transaction.operations)
    const revision = this.revision + 1
    const events: ChangeEvent[] = []
    for (const { key, value } of operations) {
      const previous = this.#newest(key)
      if (!value && !previous) continue
      events.push(eventOf(this.#index.add(key, revision, value)))
      if (previous) this.historyBytes += previous.value.length + versionBytes
    }
    if (events.length === 0) return { committed: true, revision: this.revision }
    this.revision = revision
    this.#publish(events)
    return { committed: true, revision }
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    return this.#watchers.add(range, after, observer)
  }

  async changes(range: KeyRange, after: number, size = defaultPortion): Promise<Changes> {
    this.#readable(after)
    return readPortion(this, after, withinRange(range), size, performance.now() + sliceMs)
  }

  *changesAfter(after: number) {
    for (const version of this.#index.since(after))
      yield { key: version.key, revision: version.revision, event: () => eventOf(version) }
  }

  async compact(revision: number): Promise<void> {
    if (this.#closed) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision > this.compactedRevision) {
      this.compactedRevision = revision
      this.#compaction = this.#compaction.then(() => this.#forget(revision))
    }
    return this.#compaction
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#expiry.stop()
    this.#watchers.endAll(new StoreClosedError())
  }

  async #forget(revision: number): Promise<void> {
    let until = performance.now() + sliceMs
    for (const _ of this.#index.compact(revision)) {
      if (performance.now() < until) continue
      await new Promise(setImmediate)
      if (this.#closed) return
      until = performance.now() + sliceMs
    }
  }

  #publish(events: readonly ChangeEvent[]): void {
    this.#outbox.push({ events, revision: this.revision })
    if (this.#publishing) return
    this.#publishing = true
    for (let next = this.#outbox.shift(); next; next = this.#outbox.shift())
      this.#watchers.publish(next.events, next.revision)
    this.#publishing = false
  }

  #readable(revision = 0): number {
    if (this.#closed) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision && revision < this.compactedRevision) throw new CompactedError(revision, this.compactedRevision)
    return revision || this.revision
  }

  #newest(key: string): Entry | undefined {
    return entryOf(this.#index.newest(key))
  }
}

function entryOf(version: Version<Buffer> | undefined): Entry | undefined {
  return version?.value && { key: version.key, value: version.value, revision: version.revision }
}

function eventOf(version: Version<Buffer>): ChangeEvent {
  const { key, revision, value } = version
  const previous = entryOf(version.previous)
  return value ? { type: 'put', key, value, revision, previous } : { type: 'delete', key, revision, previous }
}
