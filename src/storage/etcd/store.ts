/** The driver for etcd: a cluster of servers that other API servers may share. */
import { KV, Lease } from '#protobuf/etcd-rpc_pb.js'
import { messageOf } from '../../lib/message-of.ts'
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
  type PortionSize,
  type Store,
  StoreClosedError,
  StoreFailedError,
  type Transaction,
  type Watch,
} from '../store.ts'
import { checkTransaction } from '../transaction-check.ts'
import type { Channel } from './client/channel.ts'
import { Commits } from './commits.ts'
import { Compaction } from './compaction/compaction.ts'
import { exchangeCompaction } from './compaction/compaction-key.ts'
import { alarmIn, failure, isCompacted, isFuture, type Revisions } from './errors.ts'
import type { Health } from './health.ts'
import { Leases } from './leases.ts'
import { generatedMethod } from './messages/unary-method.ts'
import { Reads, readTimeoutMs } from './reads.ts'
import { Feeds } from './watching/feeds.ts'
import { History } from './watching/history.ts'

const compactMethod = generatedMethod(KV.method.compact)
const grantMethod = generatedMethod(Lease.method.leaseGrant)

export interface EtcdStoreOptions {
  readonly channel: Channel
  readonly health: Health
  readonly leaseReuseSeconds: number
  /** Interval of compactions in ms; 0 for none. */
  readonly compactionMs: number
}

export class EtcdStore implements Store, Revisions {
  readonly #channel: Channel
  readonly #health: Health
  readonly #reads: Reads
  readonly #commits: Commits
  readonly #history: History
  readonly #compaction: Compaction | undefined
  #feeds: Feeds | undefined
  #closing: Promise<void> | undefined
  readonly isShared = true
  readonly historyBytes = 0
  compactedRevision = 0

  constructor({ channel, health, leaseReuseSeconds, compactionMs }: EtcdStoreOptions) {
    this.#channel = channel
    this.#health = health
    this.#reads = new Reads(channel, this)
    this.#history = new History(channel)
    if (compactionMs > 0) this.#compaction = this.#startCompaction(compactionMs)
    const leases = new Leases({
      grant: (seconds) => this.#grant(seconds),
      now: () => performance.now(),
      reuseSeconds: leaseReuseSeconds,
    })
    this.#commits = new Commits({ channel, leases, firstChange: (key, after) => this.#firstChange(key, after) })
  }

  /** Asks for the revisions of etcd and starts to follow its changes. */
  async open(): Promise<void> {
    const revision = await this.#reads.currentRevision()
    this.#feeds = new Feeds({
      channel: this.#channel,
      after: revision,
      ownBuffer: (key, value) => this.#commits.ownBuffer(key, value),
      compacted: ({ compactedRevision }) => this.#learn(compactedRevision),
    })
    if (revision > 1) await this.#reads.count({ start: '', end: '\0' }, 1).catch(() => undefined)
  }

  get sizeBytes(): number | undefined {
    return this.#health.sizeBytes
  }

  get problem(): string | undefined {
    return this.#health.problem
  }

  currentRevision(): Promise<number> {
    return this.#open(async () => {
      const before = this.#feeds?.position ?? 0
      const revision = await this.#reads.currentRevision()
      if (revision < before) this.#feeds?.restart(revision)
      return revision
    })
  }

  get(key: string, revision?: number): Promise<Entry | undefined> {
    return this.#open(() => this.#reads.get(key, revision))
  }

  list(options: ListOptions): Promise<ListResult> {
    return this.#open(() => this.#reads.list(options))
  }

  count({ revision, ...range }: Omit<ListOptions, 'limit'>): Promise<number> {
    return this.#open(() => this.#reads.count(range, revision))
  }

  commit(transaction: Transaction): Promise<CommitResult> {
    return this.#open(async () => {
      checkTransaction(transaction)
      return this.#commits.run(transaction, (revision) => this.#feeds?.reached(revision))
    })
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    return this.#feeds!.watch(range, after, observer)
  }

  changes(range: KeyRange, after: number, size?: PortionSize): Promise<Changes> {
    return this.#open(async () => {
      if (after < this.compactedRevision) throw new CompactedError(after, this.compactedRevision)
      const until = await this.#reads.currentRevision()
      if (after > until) throw new FutureRevisionError(after, until)
      if (after === until) return { events: [], through: after }
      return this.#history.changes(withinRange(range), after, until, size)
    })
  }

  compact(revision: number): Promise<void> {
    return this.#open(async () => {
      try {
        await this.#channel.call(
          compactMethod,
          { revision: BigInt(revision) },
          { timeoutMs: readTimeoutMs, isSafe: true },
        )
      } catch (error) {
        if (isFuture(error)) throw new FutureRevisionError(revision, await this.current())
        if (!isCompacted(error)) throw failure(error)
      }
      this.#learn(revision)
    })
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      void this.#compaction?.stop()
      await this.#commits.settled()
      const error = new StoreClosedError()
      this.#feeds?.end(error)
      this.#history.close(error)
      this.#health.close()
      this.#channel.close()
    })()
    return this.#closing
  }

  current(): Promise<number> {
    return this.#reads.currentRevision()
  }

  async compactedAfter(revision: number): Promise<number> {
    if (revision < this.compactedRevision) return this.compactedRevision
    try {
      await this.#history.compactionAfter(revision)
    } catch (error) {
      if (error instanceof CompactedError) this.#learn(error.compactedRevision)
    }
    return this.compactedRevision
  }

  /** Returns the result of `ask`, and StoreClosedError if the store is closed before or meanwhile. */
  async #open<Result>(ask: () => Promise<Result>): Promise<Result> {
    if (this.#closing) throw new StoreClosedError()
    try {
      return await ask()
    } catch (error) {
      if (this.#closing && error instanceof StoreFailedError) throw new StoreClosedError()
      const alarm = alarmIn(error)
      if (alarm) this.#health.reportAlarm(alarm)
      if (error instanceof CompactedError) this.#learn(error.compactedRevision)
      throw error
    }
  }

  #learn(compacted: number): void {
    this.compactedRevision = Math.max(this.compactedRevision, compacted)
  }

  #startCompaction(intervalMs: number): Compaction {
    return new Compaction({
      intervalMs,
      exchange: (version, revision) => exchangeCompaction(this.#channel, version, revision),
      compact: (revision) => this.compact(revision),
      learn: (compacted) => this.#learn(compacted),
      failed: (error) => {
        if (!this.#closing) process.emitWarning(`compaction failed: ${messageOf(error)}`, 'CompactorWarning')
      },
      every: (ms, run) => {
        const timer = setInterval(run, ms).unref()
        return () => clearInterval(timer)
      },
    })
  }

  async #grant(seconds: number): Promise<bigint> {
    const call = { timeoutMs: readTimeoutMs, isSafe: true }
    return (await this.#channel.call(grantMethod, { TTL: BigInt(seconds) }, call)).ID
  }

  async #firstChange(key: string, after: number): Promise<ChangeEvent | undefined> {
    const until = await this.#reads.currentRevision()
    if (until === after) return undefined
    const { events } = await this.#history.changes((other) => other === key, after, until, { events: 1, bytes: 1 })
    return events[0]
  }
}
