/** The driver without a disk: all versions of all keys in maps. A commit is durable as soon as it is made. */
import { compareKeys } from '../key-order.ts'
import {
  type ChangeEvent,
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

/** A key at a revision; without a value it is deleted. */
interface Version {
  readonly revision: number
  readonly entry?: Entry
}

export class MemoryStore implements Store, History {
  /** Oldest version first. */
  readonly #versions = new Map<string, Version[]>()
  /** The keys of `#versions` in order. */
  readonly #keys: string[] = []
  #log: ChangeEvent[] = []
  readonly #watchers = new Watchers(this)
  /** Changes that watchers are to be told: an observer may commit while others have yet to hear of the last commit. */
  readonly #outbox: ChangeEvent[][] = []
  #publishing = false
  #closed = false
  revision = 1
  compactedRevision = 0

  async get(key: string, revision?: number): Promise<Entry | undefined> {
    return this.#at(key, this.#readable(revision))
  }

  async list({ start, end, limit, revision }: ListOptions): Promise<ListResult> {
    const at = this.#readable(revision)
    const entries: Entry[] = []
    for (let i = this.#indexOf(start); i < this.#keys.length; i++) {
      const key = this.#keys[i]!
      if (compareKeys(key, end) >= 0) break
      const entry = this.#at(key, at)
      if (!entry) continue
      if (limit && entries.length === limit) return { entries, revision: at, more: true }
      entries.push(entry)
    }
    return { entries, revision: at, more: false }
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    if (this.#closed) throw new StoreClosedError()
    checkTransaction(transaction)
    const { conditions, operations } = transaction
    if (conditions.some(({ key, revision }) => (this.#newest(key)?.revision ?? 0) !== revision)) {
      return { committed: false, current: conditions.map(({ key }) => this.#newest(key)) }
    }
    const revision = this.revision + 1
    const changes: ChangeEvent[] = []
    for (const operation of operations) {
      const { key } = operation
      const previous = this.#newest(key)
      if ('value' in operation) changes.push({ type: 'put', key, value: operation.value, revision, previous })
      else if (previous) changes.push({ type: 'delete', key, revision, previous })
    }
    if (changes.length === 0) return { committed: true, revision: this.revision }
    for (const { key, value } of changes) this.#add(key, { revision, entry: value && { key, value, revision } })
    this.#log.push(...changes)
    this.revision = revision
    this.#publish(changes)
    return { committed: true, revision }
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    return this.#watchers.add(range, after, observer)
  }

  changes(after: number, matches: (key: string) => boolean, enough: (events: number) => boolean): { events: ChangeEvent[]; through: number } {
    const events: ChangeEvent[] = []
    let through = after
    for (let i = this.#log.findIndex((change) => change.revision > after); i >= 0 && i < this.#log.length; i++) {
      const change = this.#log[i]!
      if (change.revision > through && through > after && enough(events.length)) return { events, through }
      through = change.revision
      if (matches(change.key)) events.push(change)
    }
    return { events, through: this.revision }
  }

  async compact(revision: number): Promise<void> {
    if (this.#closed) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision <= this.compactedRevision) return
    this.compactedRevision = revision
    this.#log = this.#log.filter((change) => change.revision > revision)
    for (const [key, versions] of this.#versions) {
      const visible = versions.findLastIndex((version) => version.revision <= revision)
      if (visible < 0) continue
      versions.splice(0, versions[visible]!.entry ? visible : visible + 1)
      if (versions.length > 0) continue
      this.#versions.delete(key)
      this.#keys.splice(this.#indexOf(key), 1)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watchers.endAll(new StoreClosedError())
  }

  #publish(changes: ChangeEvent[]): void {
    this.#outbox.push(changes)
    if (this.#publishing) return
    this.#publishing = true
    for (let next = this.#outbox.shift(); next; next = this.#outbox.shift()) this.#watchers.publish(next)
    this.#publishing = false
  }

  #readable(revision = 0): number {
    if (this.#closed) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision && revision < this.compactedRevision) throw new CompactedError(revision, this.compactedRevision)
    return revision || this.revision
  }

  #newest(key: string): Entry | undefined {
    return this.#versions.get(key)?.at(-1)?.entry
  }

  #at(key: string, revision: number): Entry | undefined {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.entry
  }

  #add(key: string, version: Version): void {
    const versions = this.#versions.get(key)
    if (versions) versions.push(version)
    else {
      this.#versions.set(key, [version])
      this.#keys.splice(this.#indexOf(key), 0, key)
    }
  }

  /** The place of the first key that is not before `key`. */
  #indexOf(key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(this.#keys[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
