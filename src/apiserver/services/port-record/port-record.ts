/**
 * The record of node ports in the store, under kube-apiserver's key. Each write of a Service that takes or frees node
 * ports changes it in the same transaction, so servers that share a store never give out a port twice.
 */
import type { CommitResult, Entry, Store, Transaction } from '../../../storage/store.ts'
import type { PortRange } from '../ranges/port-range.ts'
import { recordedPorts, recordOf } from './port-bitmap.ts'

const key = '/registry/ranges/servicenodeports'

/** How often a write is repeated because other servers have changed the record. */
const maxAttempts = 20

export interface PortRecordOptions {
  readonly store: Store
  readonly range: PortRange
  /** The node ports of all stored Services, as far as this server knows. */
  readonly stored: () => Iterable<number>
}

/** The node ports that a write takes and frees. */
export interface PortChange {
  readonly taken: readonly number[]
  readonly freed: readonly number[]
}

interface Recorded {
  readonly entry: Entry | undefined
  readonly ports: ReadonlySet<number>
  /** True if there was no record of the range, so that `ports` are those of the stored Services. */
  readonly isNew: boolean
}

export class PortRecord {
  readonly #options: PortRecordOptions
  /** Commits one after another: each depends on the revision of the one before. */
  #last: Promise<unknown> = Promise.resolve()
  /** How many more repairs retain a port that no Service has. */
  readonly #leaks = new Map<number, number>()

  constructor(options: PortRecordOptions) {
    this.#options = options
  }

  /** Returns the ports that are in use by the record. */
  async ports(): Promise<ReadonlySet<number>> {
    return (await this.#read()).ports
  }

  /**
   * Commits a transaction together with a change of ports. If another server has taken one of them, nothing is
   * committed, and the result is that of a condition that failed.
   */
  commit(own: Transaction, change: PortChange): Promise<CommitResult> {
    if (change.taken.length === 0 && change.freed.length === 0) return this.#options.store.commit(own)
    return this.#inTurn(() => this.#commit(own, change))
  }

  /**
   * Adds ports of stored Services that are missing, and removes ports that no Service has had in three repairs: a
   * kube-apiserver records a port before it writes the Service.
   */
  repair(): Promise<void> {
    return this.#inTurn(async () => {
      const { store, range, stored } = this.#options
      const { entry, ports, isNew } = await this.#read()
      const used = new Set(stored())
      const next = new Set(used)
      for (const port of this.#leaks.keys()) if (!ports.has(port) || used.has(port)) this.#leaks.delete(port)
      for (const port of ports) if (!used.has(port) && this.#retains(port)) next.add(port)
      const isSame = next.size === ports.size && [...next].every((port) => ports.has(port))
      if (isSame && !isNew) return
      // If another server has changed the record in the meantime, the next repair sees it.
      await store.commit({
        conditions: [{ key, revision: entry?.revision ?? 0 }],
        operations: [{ key, value: recordOf(next, range) }],
      })
    })
  }

  #retains(port: number): boolean {
    const left = this.#leaks.get(port) ?? repairsBeforeRelease
    if (left <= 1) this.#leaks.delete(port)
    else this.#leaks.set(port, left - 1)
    return left > 1
  }

  async #read(): Promise<Recorded> {
    const { store, range, stored } = this.#options
    const entry = await store.get(key)
    const ports = entry && recordedPorts(entry.value, range)
    return { entry, ports: ports ?? new Set(stored()), isNew: ports === undefined }
  }

  async #commit({ conditions, operations }: Transaction, { taken, freed }: PortChange): Promise<CommitResult> {
    const { store, range } = this.#options
    for (let attempt = 0; ; attempt++) {
      const { entry, ports, isNew } = await this.#read()
      if (attempt === maxAttempts || (!isNew && taken.some((port) => ports.has(port)))) break
      const next = new Set(ports)
      for (const port of freed) next.delete(port)
      for (const port of taken) next.add(port)
      const revision = entry?.revision ?? 0
      const result = await store.commit({
        conditions: [...conditions, { key, revision }],
        operations: [...operations, { key, value: recordOf(next, range) }],
      })
      if (result.committed) return result
      const current = result.current.slice(0, conditions.length)
      const isOwn = conditions.some((condition, i) => (current[i]?.revision ?? 0) !== condition.revision)
      if (isOwn) return { committed: false, current }
    }
    return { committed: false, current: await Promise.all(conditions.map((condition) => store.get(condition.key))) }
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action)
    this.#last = result.catch(() => {})
    return result
  }
}

/** As upstream. */
const repairsBeforeRelease = 3
