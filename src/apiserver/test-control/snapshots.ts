/**
 * Snapshots of everything that a cluster stores. A restore writes the differences as ordinary transactions: revisions
 * go on, and watches get an event for every object that changes.
 */
import { notFound, StatusError } from '../../machinery/status-error.ts'
import type { Entry, Operation, Store, Transaction } from '../../storage/store.ts'

/** A snapshot, by its name. */
export interface SnapshotInfo {
  readonly name: string
  /** Number of stored objects. */
  readonly objects: number
}

/** The result of a restore. */
export interface RestoreResult {
  /** Number of objects that were created, replaced and deleted. */
  readonly changes: number
}

type Entries = ReadonlyMap<string, Entry>

/** etcd's limit of operations in a transaction. */
const maxOperations = 128
/** Below the limit of a transaction, 1.5 MiB. */
const maxBytes = 1024 * 1024
/** Other writers may win this often before the restore fails. */
const maxAttempts = 50
const maxSnapshots = 100
const everything = { start: '/', end: '0' }
/** Heartbeats of running processes. A restored one would be a false statement about them. */
const heartbeats = /^\/registry\/(masterleases|leases\/kube-(system|node-lease))\//
const events = '/registry/events/'

export interface SnapshotOptions {
  /** The stores of the server. */
  readonly stores: readonly Store[]
  /** Time to live of Events; undefined if they stay. */
  readonly eventTtlSeconds: number | undefined
}

export class Snapshots {
  readonly #stores: readonly Store[]
  readonly #eventTtlSeconds: number | undefined
  readonly #snapshots = new Map<string, readonly Entries[]>()
  #last = 0

  constructor({ stores, eventTtlSeconds }: SnapshotOptions) {
    this.#stores = stores
    this.#eventTtlSeconds = eventTtlSeconds
  }

  /** Takes a snapshot. Values are shared with the store, not copied, if it is in memory. */
  async take(): Promise<SnapshotInfo> {
    if (this.#snapshots.size >= maxSnapshots)
      throw new StatusError(409, 'Conflict', `There are ${maxSnapshots} snapshots already: delete some of them first.`)
    const states = await Promise.all(this.#stores.map(stateOf))
    const name = `${++this.#last}`
    this.#snapshots.set(name, states)
    return { name, objects: states.reduce((sum, { size }) => sum + size, 0) }
  }

  /** Makes the stores equal to the snapshot. Throws 404 for an unknown one, and 409 if other writers do not cease. */
  async restore(name: string): Promise<RestoreResult> {
    const states = this.#find(name)
    let changes = 0
    for (const [i, store] of this.#stores.entries()) changes += await this.#restoreStore(store, states[i]!)
    return { changes }
  }

  /** Throws 404 for an unknown snapshot. */
  remove(name: string): void {
    this.#find(name)
    this.#snapshots.delete(name)
  }

  #find(name: string): readonly Entries[] {
    const found = this.#snapshots.get(name)
    if (!found) throw notFound({ group: '', name: 'snapshots' }, name)
    return found
  }

  async #restoreStore(store: Store, wanted: Entries): Promise<number> {
    let changes = 0
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const transactions = differences(await stateOf(store), wanted, this.#eventTtlSeconds)
      let committed = true
      for (const transaction of transactions) {
        committed = (await store.commit(transaction)).committed
        if (!committed) break
        changes += transaction.operations.length
      }
      if (committed) return changes
    }
    throw new StatusError(
      409,
      'Conflict',
      'Other clients change the cluster all the time: stop them, then restore again.',
    )
  }
}

const stateOf = async (store: Store): Promise<Entries> =>
  new Map((await store.list(everything)).entries.map((entry) => [entry.key, entry]))

/**
 * Returns the transactions that lead from one state to another. Objects without owners come first, so that neither the
 * garbage collector misses the owner of a restored object, nor a controller replaces one that is deleted.
 */
export function differences(current: Entries, wanted: Entries, eventTtlSeconds: number | undefined): Transaction[] {
  const free: Operation[] = []
  const owned: Operation[] = []
  const add = (operation: Operation, { value }: Entry): void => {
    const list = value.includes('"ownerReferences"') ? owned : free
    list.push(operation)
  }
  for (const entry of wanted.values()) {
    const { key, value } = entry
    const now = current.get(key)
    if (now && (now.revision === entry.revision || heartbeats.test(key) || now.value.equals(value))) continue
    const ttlSeconds = key.startsWith(events) ? eventTtlSeconds : undefined
    add({ key, value, ttlSeconds }, entry)
  }
  for (const entry of current.values()) {
    if (!wanted.has(entry.key)) add({ key: entry.key, delete: true }, entry)
  }
  return chunks([...free, ...owned]).map((operations) => ({
    conditions: operations.map(({ key }) => ({ key, revision: current.get(key)?.revision ?? 0 })),
    operations,
  }))
}

function chunks(operations: readonly Operation[]): Operation[][] {
  const result: Operation[][] = []
  let bytes = 0
  for (const operation of operations) {
    const size = operation.key.length + (operation.value?.length ?? 0)
    const last = result.at(-1)
    if (last && last.length < maxOperations && bytes + size <= maxBytes) {
      last.push(operation)
      bytes += size
    } else {
      result.push([operation])
      bytes = size
    }
  }
  return result
}
