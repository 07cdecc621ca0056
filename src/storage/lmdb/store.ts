/** The driver on LMDB: one process, one file, a commit is acknowledged once fsync has returned. */
import { readPortion, usualPortion } from '../history.ts'
import { withinRange } from '../key-order.ts'
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
import { compactHistory } from './compaction.ts'
import type { Environment } from './environment.ts'
import { GroupCommit, type PendingChange } from './group-commit.ts'
import { lowerBound } from './layout.ts'
import { allKeys, changesIn, entryAt, entryOf, previousOf, readSlice } from './reader.ts'

export interface Limits {
  /** Keys whose newest revision is kept in memory, so that conditions rarely need the disk. */
  readonly knownKeys: number
  /** Versions that are looked through when the store is opened, to know all keys from the start. 5,000 take some 5 ms. */
  readonly versionsAtOpen: number
}

const usualLimits: Limits = { knownKeys: 50_000, versionsAtOpen: 5000 }
/** Milliseconds that a long list may hold the event loop at a time. */
const sliceMs = 8

export class LmdbStore implements Store, History {
  readonly #environment: Environment
  readonly #limits: Limits
  readonly #commits: GroupCommit
  readonly #watchers = new Watchers(this)
  /** The newest accepted change of each key whose fsync is under way. */
  readonly #pending = new Map<string, PendingChange>()
  /** Newest durable revisions of keys. */
  readonly #known: Map<string, number>
  /** Whether a key that is not known is absent; otherwise only keys used lately are known, and absent ones have revision 0. */
  #knowsAll: boolean
  /** The newest revision given to a transaction. */
  #accepted: number
  #compaction: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined
  revision: number
  compactedRevision: number
  historyBytes = 0

  constructor(environment: Environment, limits = usualLimits) {
    this.#environment = environment
    this.#limits = limits
    this.compactedRevision = environment.compactedRevision
    this.revision = Math.max(1, this.compactedRevision)
    for (const { key } of environment.tables.log.getRange({ reverse: true, end: 0, limit: 1 })) this.revision = Math.max(this.revision, key)
    this.#accepted = this.revision
    const keys = allKeys(environment.tables.kv, limits.versionsAtOpen)
    this.#knowsAll = keys !== undefined
    this.#known = keys ?? new Map()
    this.#commits = new GroupCommit(environment, (changes) => this.#announce(changes))
  }

  get problem(): string | undefined {
    return this.#commits.problem
  }

  async get(key: string, revision?: number): Promise<Entry | undefined> {
    if (this.#environment.reopening) await this.#environment.reopening
    const at = this.#readable(revision)
    return at === this.revision ? this.#durable(key) : entryAt(this.#environment.tables.kv, key, at)
  }

  async list({ start, end, limit = 0, revision }: ListOptions): Promise<ListResult> {
    if (this.#environment.reopening) await this.#environment.reopening
    const at = this.#readable(revision)
    const entries: Entry[] = []
    const range = { end: lowerBound(end), revision: at, limit }
    for (let from: Uint8Array | undefined = lowerBound(start); ; ) {
      const { more, resume } = readSlice(this.#environment.tables.kv, { ...range, from }, entries, performance.now() + sliceMs)
      if (!resume) return { entries, revision: at, more }
      from = resume
      await new Promise(setImmediate)
      await this.#environment.reopening
      this.#readable(at)
    }
  }

  async count(options: ListOptions): Promise<number> {
    return (await this.list({ ...options, limit: 0 })).entries.length
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    if (this.#environment.reopening) await this.#environment.reopening
    if (this.#closing) throw new StoreClosedError()
    this.#commits.check()
    checkTransaction(transaction)
    const { conditions, operations } = transaction
    for (const { key, revision } of conditions) {
      if (this.#newestRevision(key) !== revision) return this.#conflict(conditions)
    }
    const revision = this.#accepted + 1
    const changes: PendingChange[] = []
    for (const operation of operations) {
      const { key } = operation
      const previousRevision = this.#newestRevision(key)
      if ('value' in operation) changes.push({ key, revision, deleted: false, previousRevision, value: operation.value })
      else if (previousRevision > 0) changes.push({ key, revision, deleted: true, previousRevision, value: undefined })
    }
    if (changes.length === 0) {
      await this.#commits.settled()
      return { committed: true, revision: this.revision }
    }
    this.#accepted = revision
    for (const change of changes) this.#pending.set(change.key, change)
    await this.#commits.add(changes)
    return { committed: true, revision }
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    return this.#watchers.add(range, after, observer)
  }

  async changes(range: KeyRange, after: number, size = usualPortion): Promise<Changes> {
    if (this.#environment.reopening) await this.#environment.reopening
    this.#readable(after)
    return readPortion(this, after, withinRange(range), size, performance.now() + sliceMs)
  }

  changesAfter(after: number) {
    const { kv, log } = this.#environment.tables
    return changesIn(kv, log, after, this.revision)
  }

  async compact(revision: number): Promise<void> {
    if (this.#closing) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision <= this.compactedRevision) return this.#compaction
    this.compactedRevision = revision
    const run = () => compactHistory(this.#environment, this.#commits, revision)
    this.#compaction = this.#compaction.then(run, run)
    return this.#compaction
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#commits.close()
      await this.#compaction.catch(() => undefined)
      this.#watchers.endAll(new StoreClosedError())
      await this.#environment.close()
    })()
    return this.#closing
  }

  #readable(revision = 0): number {
    if (this.#closing) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision && revision < this.compactedRevision) throw new CompactedError(revision, this.compactedRevision)
    return revision || this.revision
  }

  /** The newest durable entry. */
  #durable(key: string): Entry | undefined {
    const known = this.#known.get(key) ?? (this.#knowsAll ? 0 : undefined)
    if (known === 0) return undefined
    const entry = known ? entryOf(this.#environment.tables.kv, key, known) : entryAt(this.#environment.tables.kv, key, this.revision)
    if (known === undefined) this.#learn(key, entry?.revision ?? 0)
    return entry
  }

  /** The newest accepted revision of a key, 0 if it is absent. */
  #newestRevision(key: string): number {
    const pending = this.#pending.get(key)
    if (pending) return pending.deleted ? 0 : pending.revision
    return this.#known.get(key) ?? this.#durable(key)?.revision ?? 0
  }

  #learn(key: string, revision: number): void {
    if (this.#knowsAll && revision === 0) {
      this.#known.delete(key)
      return
    }
    if (this.#known.size >= this.#limits.knownKeys) {
      this.#known.clear()
      this.#knowsAll = false
    }
    this.#known.set(key, revision)
  }

  async #conflict(conditions: Transaction['conditions']): Promise<CommitResult> {
    const current = conditions.map(({ key }) => {
      const pending = this.#pending.get(key)
      if (!pending) return this.#durable(key)
      return pending.value && { key, value: pending.value, revision: pending.revision }
    })
    // What is shown must be durable.
    if (conditions.some(({ key }) => this.#pending.has(key))) await this.#commits.settled()
    return { committed: false, current }
  }

  #announce(changes: readonly PendingChange[]): void {
    this.revision = changes[changes.length - 1]!.revision
    for (const change of changes) {
      this.#learn(change.key, change.deleted ? 0 : change.revision)
      if (this.#pending.get(change.key) === change) this.#pending.delete(change.key)
    }
    this.#watchers.publish(this.#events(changes), this.revision)
  }

  /** The events that live watchers want to hear of. */
  #events(changes: readonly PendingChange[]): ChangeEvent[] {
    const events: ChangeEvent[] = []
    for (const { key, revision, deleted, value, previousRevision } of changes) {
      const interest = this.#watchers.interest(key)
      if (interest === 'none') continue
      const previous = interest === 'change' ? undefined : previousOf(this.#environment.tables.kv, key, previousRevision)
      events.push({ type: deleted ? 'delete' : 'put', key, value, revision, previous })
    }
    return events
  }
}
