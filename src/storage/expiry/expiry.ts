/**
 * Keys with a time to live, for drivers without leases. The deadline of a key is the value of a second key, which is
 * written in the same transaction, so deadlines survive restarts and are part of snapshots.
 */
import { type Alarm, type Clock, systemClock } from '../../lib/clock/clock.ts'
import { type Entry, type Operation, prefixRange, type Store, StoreClosedError, StoreFailedError } from '../store.ts'
import { Deadlines } from './deadlines.ts'

const prefix = 'deadline:/'
/** The keys of deadlines, outside the ranges of objects. Their values are seconds since 1970. */
export const deadlineRange = prefixRange(prefix)

const deadlineKey = (key: string): string => prefix.slice(0, -1) + key

/** The entry that gives a key a deadline, in seconds since 1970, in a store that is made from entries. */
export const deadlineEntry = (key: string, revision: number, deadline: number): Entry => ({
  key: deadlineKey(key),
  revision,
  value: Buffer.from(String(Math.ceil(deadline))),
})

/** The key whose deadline an entry is, and the deadline in seconds since 1970; undefined for other entries. */
export const deadlineIn = ({ key, value }: Entry): { readonly key: string; readonly deadline: number } | undefined =>
  key.startsWith(prefix) ? { key: key.slice(prefix.length - 1), deadline: Number(value.toString()) } : undefined

/** Keys that are read or deleted at the same time. */
const atOnce = 100
/** Time after which deletes that failed are repeated, in ms. */
const retryMs = 1000

export class Expiry {
  readonly #store: Pick<Store, 'get' | 'commit'>
  readonly #deadlines = new Deadlines()
  readonly #clock: Clock
  /** Waits for the next deadline. */
  #alarm: Alarm | undefined
  /** Waits until the store can be tried again. */
  #retry: NodeJS.Timeout | undefined
  /** The deadline that the alarm waits for, in seconds since 1970. */
  #awaited = Number.POSITIVE_INFINITY
  #isBusy = false
  #isStopped = false

  /** `stored` are the keys in `deadlineRange` that the store has already. */
  constructor(store: Pick<Store, 'get' | 'commit'>, stored: Iterable<string> = [], clock: Clock = systemClock) {
    this.#store = store
    this.#clock = clock
    let count = 0
    for (const key of stored) {
      this.#deadlines.set(key.slice(prefix.length - 1))
      count++
    }
    // The store is still being constructed.
    if (count > 0) setImmediate(() => void this.#learn())
  }

  /**
   * Returns the operations of a transaction with those of deadlines. Transactions must be committed in the order of
   * these calls. What it remembers of a transaction that fails is corrected at the deadline.
   */
  prepare(operations: readonly Operation[]): readonly Operation[] {
    let more: Operation[] | undefined
    for (const operation of operations) {
      const { key } = operation
      if (operation.value && operation.ttlSeconds !== undefined) {
        const deadline = Math.ceil(this.#nowSeconds() + operation.ttlSeconds)
        this.#deadlines.set(key, deadline)
        this.#await(deadline)
        more ??= [...operations]
        more.push({ key: deadlineKey(key), value: Buffer.from(String(deadline)) })
      } else if (this.#deadlines.has(key)) {
        more ??= [...operations]
        more.push({ key: deadlineKey(key), delete: true })
      }
    }
    return more ?? operations
  }

  stop(): void {
    this.#isStopped = true
    this.#alarm?.cancel()
    clearTimeout(this.#retry)
  }

  #nowSeconds(): number {
    return this.#clock.now() / 1000
  }

  /** Reads the deadlines of keys that were stored before. */
  async #learn(): Promise<void> {
    try {
      const keys = [...this.#deadlines.unknown()]
      for (let at = 0; at < keys.length && !this.#isStopped; at += atOnce)
        await Promise.all(keys.slice(at, at + atOnce).map((key) => this.#place(key)))
    } catch (error) {
      this.#later(error, () => void this.#learn())
    }
  }

  /** Sets the deadline of a key to the stored one, unless a transaction has set it meanwhile. */
  async #place(key: string): Promise<void> {
    const before = this.#deadlines.get(key)
    const mark = await this.#store.get(deadlineKey(key))
    if (this.#deadlines.get(key) !== before) return
    if (!mark) return this.#deadlines.delete(key)
    const deadline = Number(mark.value.toString())
    this.#deadlines.set(key, deadline)
    this.#await(deadline)
  }

  #await(deadline: number): void {
    if (deadline >= this.#awaited || this.#isBusy || this.#isStopped) return
    this.#alarm?.cancel()
    this.#awaited = deadline
    this.#alarm = this.#clock.after((deadline - this.#nowSeconds()) * 1000, () => void this.#expire())
  }

  async #expire(): Promise<void> {
    this.#awaited = Number.POSITIVE_INFINITY
    this.#isBusy = true
    try {
      const keys = this.#deadlines.due(this.#nowSeconds())
      for (let at = 0; at < keys.length && !this.#isStopped; at += atOnce)
        await Promise.all(keys.slice(at, at + atOnce).map((key) => this.#remove(key)))
    } catch (error) {
      return this.#later(error, () => void this.#expire())
    } finally {
      this.#isBusy = false
    }
    const { earliest } = this.#deadlines
    if (earliest !== undefined) this.#await(earliest)
  }

  /** Deletes a key whose deadline is over, unless it was written again. */
  async #remove(key: string): Promise<void> {
    const [entry, mark] = await Promise.all([this.#store.get(key), this.#store.get(deadlineKey(key))])
    if (!mark || Number(mark.value.toString()) > this.#nowSeconds()) return this.#place(key)
    const conditions = [
      { key, revision: entry?.revision ?? 0 },
      { key: deadlineKey(key), revision: mark.revision },
    ]
    await this.#store.commit({ conditions, operations: [{ key, delete: true }] })
    await this.#place(key)
  }

  /** Repeats what the store cannot do at present. */
  #later(error: unknown, repeat: () => void): void {
    if (this.#isStopped || error instanceof StoreClosedError) return
    if (!(error instanceof StoreFailedError)) throw error
    this.#retry = setTimeout(repeat, retryMs).unref()
  }
}
