/** The driver on a log: one process and one directory. A commit is acknowledged once its batch is on the disk. */
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
import { Cleaner, type CleaningLimits } from './cleaner.ts'
import { kinds } from './layout.ts'
import type { Log } from './log.ts'
import type { LoadedVersion } from './segments/load.ts'
import { type Location, RecordReader, readValue } from './segments/segment.ts'
import { Window } from './segments/window.ts'
import { type CommitListener, GroupCommit, type PendingChange } from './writing/group-commit.ts'

export interface LogStoreOptions {
  readonly cleaning: CleaningLimits
  /** Interval in ms at which a failed disk is probed. */
  readonly probeMs: number
  /** The clock of times to live. Default: the machine's. */
  readonly clock?: Clock | undefined
}

/** The content of the log when it was opened. */
export interface Contents {
  readonly versions: readonly LoadedVersion[]
  readonly revision: number
  readonly compactedRevision: number
}

/** Maximum time in ms that a portion of history or of a compaction blocks the event loop. */
const sliceMs = 4
/**
 * The same for a list. Longer, because the caller waits for all of it and turns of the event loop are long under load.
 */
const listSliceMs = 12
/** Entries between two checks of the clock. */
const entriesPerClockCheck = 32
/** Estimated bytes of a version besides its value. */
const versionBytes = 150

export class LogStore implements Store, History, CommitListener {
  readonly #log: Log
  readonly #closed: () => void
  readonly #index = new VersionIndex<Location>()
  readonly #commits: GroupCommit
  readonly #cleaner: Cleaner
  readonly #watchers = new Watchers(this)
  readonly #expiry: Expiry
  readonly #window = new Window()
  /** The newest accepted change of each key that is not durable yet. */
  readonly #pending = new Map<string, PendingChange>()
  /** Durable versions that have not been announced yet. */
  #durable: Version<Location>[] = []
  /** The newest revision assigned to a transaction. */
  #accepted: number
  /** Queue of compactions and cleaning. */
  #housekeeping: Promise<void> = Promise.resolve()
  #compaction: Promise<void> = Promise.resolve()
  #compactionsWaiting = 0
  #closing: Promise<void> | undefined
  readonly isShared = false
  revision: number
  compactedRevision: number
  historyBytes = 0

  get sizeBytes(): number {
    return this.#log.bytes
  }

  /** `closed` is called once the store has released its directory. */
  constructor(
    log: Log,
    { versions, revision, compactedRevision }: Contents,
    { cleaning, probeMs, clock }: LogStoreOptions,
    closed: () => void,
  ) {
    this.#log = log
    this.#closed = closed
    this.revision = Math.max(1, revision)
    this.compactedRevision = compactedRevision
    this.#accepted = this.revision
    this.#index.fill(versions, compactedRevision, release)
    for (const version of this.#index.since(0)) this.#countHistory(version)
    const { start, end } = deadlineRange
    this.#expiry = new Expiry(
      this,
      Array.from(this.#index.range(start, end, this.revision), ({ key }) => key),
      clock,
    )
    this.#commits = new GroupCommit(log, this, probeMs)
    this.#cleaner = new Cleaner(log, this.#commits, this.#index, cleaning)
    this.#clean()
  }

  get problem(): string | undefined {
    return this.#commits.problem
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
    for (let from = start; ; ) {
      const { more, resume } = this.#listSlice({ start: from, end, limit, revision: at }, entries)
      if (resume === undefined) return { entries, revision: at, more }
      from = resume
      await new Promise(setImmediate)
      this.#readable(at)
    }
  }

  async count({ start, end, revision }: Omit<ListOptions, 'limit'>): Promise<number> {
    return this.#index.count(start, end, this.#readable(revision))
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    if (this.#closing) throw new StoreClosedError()
    this.#commits.check()
    checkTransaction(transaction)
    const { conditions } = transaction
    for (const { key, revision } of conditions)
      if (this.#newestRevision(key) !== revision) return this.#conflict(conditions)
    const operations = this.#expiry.prepare(transaction.operations)
    const revision = this.#accepted + 1
    const changes: PendingChange[] = []
    for (const { key, value } of operations)
      if (value || this.#newestRevision(key) > 0) changes.push({ key, revision, value })
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

  async changes(range: KeyRange, after: number, size = defaultPortion): Promise<Changes> {
    this.#readable(after)
    return readPortion(this, after, withinRange(range), size, performance.now() + sliceMs)
  }

  *changesAfter(after: number) {
    const reader = new RecordReader(this.#window)
    const read: ReadValue = (location, key, revision) => reader.value(location, key, revision)
    for (const version of this.#index.since(after))
      yield { key: version.key, revision: version.revision, event: () => eventOf(version, read) }
  }

  async compact(revision: number): Promise<void> {
    if (this.#closing) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision <= this.compactedRevision) return this.#compaction
    this.#compactionsWaiting++
    const compaction = this.#housekeeping.then(() => this.#compact(revision))
    this.#compaction = compaction
    this.#housekeeping = compaction.catch(() => undefined)
    this.#clean()
    return compaction
  }

  close(): Promise<void> {
    this.#expiry.stop()
    this.#closing ??= (async () => {
      await this.#commits.close()
      await this.#housekeeping
      this.#watchers.endAll(new StoreClosedError())
      await this.#log.close()
      this.#closed()
    })()
    return this.#closing
  }

  durable({ key, revision, value }: PendingChange, location: Location | undefined): void {
    const version = this.#index.add(key, revision, location)
    this.revision = revision
    this.#countHistory(version)
    this.#durable.push(version)
    const pending = this.#pending.get(key)
    if (pending?.revision === revision && pending.value === value) this.#pending.delete(key)
  }

  announce(changes: readonly PendingChange[]): void {
    const versions = this.#durable
    this.#durable = []
    const events: ChangeEvent[] = []
    for (const [i, version] of versions.entries()) {
      const { key, revision } = version
      const interest = this.#watchers.interest(key)
      if (interest === 'none') continue
      const { value } = changes[i]!
      const previous = interest === 'change' ? undefined : this.#previousOf(version)
      events.push({ type: value ? 'put' : 'delete', key, value, revision, previous })
    }
    this.#watchers.publish(events, this.revision)
  }

  failed(): void {
    this.#pending.clear()
    this.#accepted = this.revision
  }

  #readable(revision = 0): number {
    if (this.#closing) throw new StoreClosedError()
    if (revision > this.revision) throw new FutureRevisionError(revision, this.revision)
    if (revision && revision < this.compactedRevision) throw new CompactedError(revision, this.compactedRevision)
    return revision || this.revision
  }

  /**
   * Appends entries until the limit or the end of the range, or until the time is over: then `resume` is the next key.
   */
  #listSlice({ start, end, limit, revision }: ListOptions, entries: Entry[]): { more: boolean; resume?: string } {
    const reader = new RecordReader(this.#window)
    const until = performance.now() + listSliceMs
    let steps = 0
    for (const { key, revision: written, value } of this.#index.range(start, end, revision!)) {
      if (limit && entries.length === limit) return { more: true }
      if (++steps % entriesPerClockCheck === 0 && performance.now() >= until) return { more: true, resume: key }
      entries.push({ key, value: reader.value(value!, key, written), revision: written })
    }
    return { more: false }
  }

  /** The newest accepted revision of a key, 0 if it is absent. */
  #newestRevision(key: string): number {
    const newest = this.#pending.get(key) ?? this.#index.newest(key)
    return newest?.value ? newest.revision : 0
  }

  async #conflict(conditions: Transaction['conditions']): Promise<CommitResult> {
    const current = conditions.map(({ key }): Entry | undefined => {
      const pending = this.#pending.get(key)
      if (!pending) return entryOf(this.#index.newest(key))
      return pending.value && { key, value: pending.value, revision: pending.revision }
    })
    // The returned entries must be durable.
    if (conditions.some(({ key }) => this.#pending.has(key))) await this.#commits.settled()
    return { committed: false, current }
  }

  #countHistory({ previous }: Version<Location>): void {
    if (previous) this.historyBytes += (previous.value?.length ?? 0) + versionBytes
  }

  /**
   * Returns the version that a change replaced. If it can no longer be read, live watches end, since they would miss
   * part of the event.
   */
  #previousOf({ previous }: Version<Location>): Entry | undefined {
    try {
      return entryOf(previous)
    } catch (error) {
      this.#watchers.endLive(error as Error)
      return undefined
    }
  }

  /** Records the compacted revision, then frees older versions in slices. */
  async #compact(revision: number): Promise<void> {
    this.#compactionsWaiting--
    if (revision <= this.compactedRevision) return
    await this.#commits.maintain({
      add: (batch) => batch.add(kinds.compacted, '', revision),
      written: () => {
        this.compactedRevision = revision
      },
    })
    let until = performance.now() + sliceMs
    for (const version of this.#index.compact(revision)) {
      release(version)
      if (performance.now() < until) continue
      await new Promise(setImmediate)
      until = performance.now() + sliceMs
    }
  }

  /** Cleans the log if enough of it is garbage, after the pending compactions. */
  #clean(): void {
    const stopped = () => this.#closing !== undefined || this.#compactionsWaiting > 0
    this.#housekeeping = this.#housekeeping
      .then(() => this.#cleaner.run(this.compactedRevision, stopped))
      .catch((error: Error) => {
        // A disk failure has been reported already.
        if (!this.#closing && !this.problem)
          process.emitWarning(
            `the store in ${this.#log.directory} cannot reclaim disk space: ${error.message}`,
            'StoreWarning',
          )
      })
  }
}

type ReadValue = (location: Location, key: string, revision: number) => Buffer

/** Counts the version's bytes as garbage. */
function release({ value }: Version<Location>): void {
  if (value) value.segment.live -= value.length
}

function entryOf(version: Version<Location> | undefined, read: ReadValue = readValue): Entry | undefined {
  return (
    version?.value && {
      key: version.key,
      value: read(version.value, version.key, version.revision),
      revision: version.revision,
    }
  )
}

function eventOf(version: Version<Location>, read: ReadValue): ChangeEvent {
  const { key, revision, value } = version
  const previous = entryOf(version.previous, read)
  return value
    ? { type: 'put', key, value: read(value, key, revision), revision, previous }
    : { type: 'delete', key, revision, previous }
}
