/**
 * Gathers transactions while the disk is busy and writes them as one LMDB transaction with one fsync. The disk and this thread
 * work at the same time: the next write begins before the last one is announced.
 * What one fsync made durable is announced at once. After a failed write nothing is accepted any more.
 */
import { StoreClosedError, StoreFailedError } from '../store.ts'
import type { Environment, Tables } from './environment.ts'
import { encodeChanges, type LoggedChange } from './layout.ts'

/** A change that is accepted but perhaps not durable yet. A delete has no value. */
export interface PendingChange extends LoggedChange {
  readonly value: Buffer | undefined
}

interface Waiting {
  readonly changes: readonly PendingChange[]
  resolve(): void
  reject(error: Error): void
}

interface Maintenance {
  change(tables: Tables): void
  resolve(): void
  reject(error: Error): void
}

/** So many transactions of one turn of the event loop do not wait for its end. */
const enoughToBegin = 4
const maxTransactions = 512
const maxBytes = 16 * 1024 * 1024
const none: readonly PendingChange[] = []

export class GroupCommit {
  readonly #environment: Environment
  readonly #durable: (changes: readonly PendingChange[]) => void
  #queue: Waiting[] = []
  #maintenance: Maintenance | undefined
  #busy = false
  /** The first write after idle time, while it waits for the end of the turn. */
  #scheduled: NodeJS.Immediate | undefined
  #failure: Error | undefined
  #idle: (() => void)[] = []

  /** `durable` is called after each fsync, before the commits that it made durable resolve. */
  constructor(environment: Environment, durable: (changes: readonly PendingChange[]) => void) {
    this.#environment = environment
    this.#durable = durable
  }

  /** Throws once a write has failed. */
  check(): void {
    if (this.#failure) throw this.#failure
  }

  /** Why nothing is written any more. */
  get problem(): string | undefined {
    return this.#failure?.message
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

  /** Runs `change`, which puts and removes, within the next write. One at a time. */
  maintain(change: (tables: Tables) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#maintenance = { change, resolve, reject }
      this.#schedule()
    })
  }

  /** Resolves when nothing is under way; what is added afterwards fails as closed. */
  async close(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve))
    this.#failure ??= new StoreClosedError()
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
    this.#scheduled = undefined
    const batch = this.#take()
    const maintenance = this.#maintenance
    this.#maintenance = undefined
    const changes = batch.length === 1 ? batch[0]!.changes : batch.flatMap((waiting) => waiting.changes)
    const done = () => {
      this.#next()
      if (changes.length > 0) this.#durable(changes)
      for (const waiting of batch) waiting.resolve()
      maintenance?.resolve()
    }
    if (changes.length === 0 && !maintenance) {
      done()
      return
    }
    this.#write(changes, maintenance).then(done, (error: Error) => {
      this.#failure = error
      for (const waiting of [...batch, ...this.#queue]) waiting.reject(error)
      maintenance?.reject(error)
      this.#maintenance?.reject(error)
      this.#queue = []
      this.#maintenance = undefined
      this.#next()
    })
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

  async #write(changes: readonly PendingChange[], maintenance: Maintenance | undefined): Promise<void> {
    const { directory } = this.#environment
    let owned: boolean
    try {
      owned = await this.#environment.write((tables) => {
        const { kv, log } = tables
        for (const change of changes) kv.put(change, change.value ?? noValue)
        if (changes.length > 0) log.put(changes[changes.length - 1]!.revision, encodeChanges(changes))
        maintenance?.change(tables)
      })
    } catch (error) {
      throw new StoreFailedError(`the store in ${directory} could not write: ${(error as Error).message.trim()}; it refuses writes until it is opened again`, {
        cause: error,
      })
    }
    if (!owned) throw new StoreFailedError(`the store in ${directory} has been taken over by another process; it refuses writes`)
  }
}

const noValue = Buffer.alloc(0)
