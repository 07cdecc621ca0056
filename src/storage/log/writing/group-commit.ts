/**
 * Gathers transactions while the disk is busy and writes them as one batch. The disk and this thread work at the same
 * time: the next write begins before the last one is announced. What one write made durable is announced at once. When
 * the disk refuses a write, all that wait are told, and nothing is accepted until a write works again.
 */
import { FatalError } from '../../../lib/process/unhandled-errors.ts'
import { StoreClosedError, StoreFailedError } from '../../store.ts'
import { kinds } from '../layout.ts'
import type { Log, Place, Revisions } from '../log.ts'
import type { Location } from '../segments/segment.ts'
import { Batch } from './batch.ts'
import { writeFailure } from './write-failure.ts'

/** A change that is accepted but perhaps not durable yet. A delete has no value. */
export interface PendingChange {
  readonly key: string
  readonly revision: number
  readonly value: Buffer | undefined
}

/** What the store does when changes are durable, or not. */
export interface CommitListener extends Revisions {
  /** A change is durable and lies at `location` (a delete: nowhere). Called before the next write is put together. */
  durable(change: PendingChange, location: Location | undefined): void
  /** All of these are durable and known. Called before the commits resolve. */
  announce(changes: readonly PendingChange[]): void
  /** Whatever was accepted and is not durable is forgotten. */
  failed(): void
}

/** Records of the store's own, written along with the next transactions. */
export interface Maintenance {
  /** Adds the records. Called when everything that was written before is known. */
  add(batch: Batch): void
  /** They are durable. */
  written(place: Place): void
}

interface Waiting {
  readonly changes: readonly PendingChange[]
  resolve(): void
  reject(error: Error): void
}

interface WaitingMaintenance extends Maintenance {
  resolve(): void
  reject(error: Error): void
}

/** So many transactions of one turn of the event loop do not wait for its end. */
const enoughToBegin = 4
const maxTransactions = 512
const maxBytes = 16 * 1024 * 1024
/** The disk must have room for the batch it refused, or for this much, before writes go on. */
const maxRoom = 1024 * 1024
const none: readonly PendingChange[] = []

export class GroupCommit {
  readonly #log: Log
  readonly #listener: CommitListener
  readonly #probeMs: number
  readonly #batch = new Batch()
  #queue: Waiting[] = []
  #maintenance: WaitingMaintenance | undefined
  #busy = false
  /** The first write after idle time, while it waits for the end of the turn. */
  #scheduled: NodeJS.Immediate | undefined
  #failure: Error | undefined
  #probe: NodeJS.Timeout | undefined
  #probing = Promise.resolve()
  #closed = false
  #idle: (() => void)[] = []

  /** After a failure it is tried every `probeMs` whether the disk takes writes again. */
  constructor(log: Log, listener: CommitListener, probeMs: number) {
    this.#log = log
    this.#listener = listener
    this.#probeMs = probeMs
  }

  /** Throws while nothing can be written. */
  check(): void {
    if (this.#failure) throw this.#failure
  }

  get problem(): string | undefined {
    return this.#failure instanceof StoreFailedError ? this.#failure.message : undefined
  }

  /** Resolves when the changes are durable and announced, and all that were added before. */
  add(changes: readonly PendingChange[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ changes, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when all that was added so far is durable and announced. */
  settled(): Promise<void> {
    return this.#busy ? this.add(none) : Promise.resolve()
  }

  /** Writes records of the store's own with the next batch. One at a time. */
  maintain(maintenance: Maintenance): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#maintenance = {
        add: (batch) => maintenance.add(batch),
        written: (place) => maintenance.written(place),
        resolve,
        reject,
      }
      this.#schedule()
    })
  }

  /** Resolves when nothing is under way; what is added afterwards fails as closed. */
  async close(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve))
    this.#closed = true
    this.#failure = new StoreClosedError()
    clearTimeout(this.#probe)
    await this.#probing
  }

  #schedule(): void {
    if (!this.#busy) {
      this.#busy = true
      this.#scheduled = setImmediate(this.#flush)
    } else if (this.#scheduled && this.#queue.length >= enoughToBegin) {
      clearImmediate(this.#scheduled)
      this.#flush()
    }
  }

  readonly #flush = (): void => {
    try {
      this.#writeBatch()
    } catch (cause) {
      this.#distrust(cause)
    }
  }

  #writeBatch(): void {
    this.#scheduled = undefined
    const transactions = this.#take()
    const maintenance = this.#maintenance
    this.#maintenance = undefined
    const changes =
      transactions.length === 1 ? transactions[0]!.changes : transactions.flatMap((waiting) => waiting.changes)
    const batch = this.#batch
    batch.clear()
    const ends: number[] = []
    for (const { key, revision, value } of changes) {
      batch.add(value ? kinds.put : kinds.delete, key, revision, value)
      ends.push(batch.length)
    }
    maintenance?.add(batch)
    const done = (place?: Place) => {
      if (place) {
        this.#apply(changes, ends, place)
        maintenance?.written(place)
      }
      this.#next()
      if (changes.length > 0) this.#listener.announce(changes)
      for (const waiting of transactions) waiting.resolve()
      maintenance?.resolve()
    }
    if (batch.isEmpty) {
      done()
      return
    }
    this.#log
      .append(batch, this.#listener)
      .then(done, (cause: unknown) => {
        const error = writeFailure(this.#log.directory, cause)
        this.#fail(error)
        for (const waiting of [...transactions, ...this.#queue.splice(0)]) waiting.reject(error)
        maintenance?.reject(error)
        this.#maintenance?.reject(error)
        this.#maintenance = undefined
        this.#next()
      })
      .catch((cause: unknown) => this.#distrust(cause))
  }

  /**
   * An error of this program, not of the disk: what is in memory may not be what was written, so nothing may be served.
   */
  #distrust(cause: unknown): never {
    if (cause instanceof FatalError) throw cause
    const message = `the store in ${this.#log.directory} cannot be trusted any more: a write was interrupted by an error`
    this.#failure = new StoreFailedError(message, { cause })
    throw new FatalError(message, cause)
  }

  #apply(changes: readonly PendingChange[], ends: readonly number[], { segment, position }: Place): void {
    let start = this.#batch.firstRecord
    for (const [i, change] of changes.entries()) {
      const end = ends[i]!
      const length = end - start
      if (change.value) {
        segment.live += length
        this.#listener.durable(change, { segment, offset: position + start, length })
      } else {
        segment.countDeletion(change.revision, length)
        this.#listener.durable(change, undefined)
      }
      start = end
    }
  }

  #fail(error: StoreFailedError): void {
    this.#failure = error
    this.#listener.failed()
    if (!this.#log.lost) this.#probeSoon(Math.min(this.#batch.length, maxRoom))
  }

  /** Looks again and again whether the disk has room for what it refused. */
  #probeSoon(room: number): void {
    if (this.#closed) return
    this.#probe = setTimeout(() => {
      this.#probing = this.#log.recover(this.#listener, room).then(
        () => {
          if (!this.#closed) this.#failure = undefined
        },
        (cause: unknown) => {
          if (this.#closed) return
          this.#failure = writeFailure(this.#log.directory, cause)
          if (!this.#log.lost) this.#probeSoon(room)
        },
      )
    }, this.#probeMs)
    this.#probe.unref()
  }

  #next(): void {
    if (this.#queue.length > 0 || this.#maintenance) {
      this.#flush()
      return
    }
    this.#busy = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #take(): Waiting[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && count < maxTransactions && bytes < maxBytes) {
      for (const { value } of this.#queue[count]!.changes) bytes += value?.length ?? 0
      count++
    }
    const batch = this.#queue
    this.#queue = batch.splice(count)
    return batch
  }
}
