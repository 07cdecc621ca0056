/**
 * Gathers transactions while the disk is busy and writes them as one batch. Disk and thread work in parallel: the next
 * write begins before the last one is announced. The changes of one write are announced together. When a write fails,
 * all waiting transactions are rejected, and none is accepted until a write works again.
 */
import { FatalError } from '../../../lib/process/unhandled-errors.ts'
import { StoreClosedError, StoreFailedError } from '../../store.ts'
import { kinds } from '../layout.ts'
import type { Log, Place, Revisions } from '../log.ts'
import type { Location } from '../segments/segment.ts'
import { Batch } from './batch.ts'
import { writeFailure } from './write-failure.ts'

/** A change that is accepted but may not be durable yet. A delete has no value. */
export interface PendingChange {
  readonly key: string
  readonly revision: number
  readonly value: Buffer | undefined
}

/** Callbacks of the store. */
export interface CommitListener extends Revisions {
  /**
   * Called when a change is durable, with the place of its value (none for a delete), before the next batch is built.
   */
  durable(change: PendingChange, location: Location | undefined): void
  /** Called when all these changes are durable and indexed, before their commits resolve. */
  announce(changes: readonly PendingChange[]): void
  /** Called after a failed write: accepted changes that are not durable are dropped. */
  failed(): void
}

/** Records of the store itself, written with the next transactions. */
export interface Maintenance {
  /** Adds the records. Called after all earlier writes have been applied. */
  add(batch: Batch): void
  /** Called when the records are durable. */
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

/** With this many transactions a write begins before the turn of the event loop ends. */
const enoughToBegin = 4
const maxTransactions = 512
const maxBytes = 16 * 1024 * 1024
/** Writes resume once the disk has space for the rejected batch, or for this many bytes. */
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
  /** The first write after idle time, scheduled for the end of the turn. */
  #scheduled: NodeJS.Immediate | undefined
  #failure: Error | undefined
  #probe: NodeJS.Timeout | undefined
  #probing = Promise.resolve()
  #closed = false
  #idle: (() => void)[] = []

  /** After a failure the disk is probed every `probeMs`. */
  constructor(log: Log, listener: CommitListener, probeMs: number) {
    this.#log = log
    this.#listener = listener
    this.#probeMs = probeMs
  }

  /** Throws while the store cannot write. */
  check(): void {
    if (this.#failure) throw this.#failure
  }

  get problem(): string | undefined {
    return this.#failure instanceof StoreFailedError ? this.#failure.message : undefined
  }

  /** Resolves when these changes and all added before are durable and announced. */
  add(changes: readonly PendingChange[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ changes, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when all changes added so far are durable and announced. */
  settled(): Promise<void> {
    return this.#busy ? this.add(none) : Promise.resolve()
  }

  /** Writes records of the store itself with the next batch. Calls must not overlap. */
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

  /** Resolves when no write is running. Later changes are rejected with StoreClosedError. */
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
      this.#abort(cause)
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
      .catch((cause: unknown) => this.#abort(cause))
  }

  /**
   * Handles an error of this program rather than the disk: memory and disk may differ, so the store must not be read
   * any more.
   */
  #abort(cause: unknown): never {
    if (cause instanceof FatalError) throw cause
    const { directory } = this.#log
    const message = `the store in ${directory} cannot be trusted any more: a write was interrupted by an error`
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

  /** Checks every `probeMs` whether the disk has space for the rejected bytes. */
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
