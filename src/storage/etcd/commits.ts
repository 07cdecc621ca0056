/**
 * Transactions of etcd. Those of this process on the same key are executed in their order. A transaction whose answer
 * was lost is never reported as not written unless that is certain.
 */
import { messageOf } from '../../lib/message-of.ts'
import { type ChangeEvent, type CommitResult, CommitUnknownError, type Operation, type Transaction } from '../store.ts'
import type { Channel } from './client/channel.ts'
import { EtcdError, isTemporary } from './client/etcd-error.ts'
import { failure, leaseNotFoundMessage } from './errors.ts'
import type { Leases } from './leases.ts'
import { type TxnRequest, type TxnResponse, txnMethod } from './messages/txn.ts'

/** Time for a transaction and its retries, in ms. etcd itself answers within 7 s. */
const timeoutMs = 10_000

export interface CommitsOptions {
  readonly channel: Channel
  readonly leases: Leases
  /** Returns the first change of a key after a revision; undefined if it has not changed. Linearizable. */
  firstChange(key: string, after: number): Promise<ChangeEvent | undefined>
}

export class Commits {
  readonly #options: CommitsOptions
  /** The newest transaction of each key. */
  readonly #last = new Map<string, Promise<void>>()
  /** The values that are being written. */
  readonly #values = new Map<string, Buffer>()
  readonly #running = new Set<Promise<unknown>>()

  constructor(options: CommitsOptions) {
    this.#options = options
  }

  /** Executes a transaction after earlier ones of its keys. */
  run(transaction: Transaction, delivered: (revision: number) => Promise<void> | undefined): Promise<CommitResult> {
    const keys = new Set([...transaction.conditions, ...transaction.operations].map(({ key }) => key))
    const earlier = [...keys].flatMap((key) => this.#last.get(key) ?? [])
    const start = () => this.#commit(transaction, delivered)
    const result = earlier.length > 0 ? Promise.all(earlier).then(start) : start()
    const settled = result.then(
      () => {},
      () => {},
    )
    this.#running.add(settled)
    for (const key of keys) this.#last.set(key, settled)
    void settled.then(() => {
      this.#running.delete(settled)
      for (const key of keys) if (this.#last.get(key) === settled) this.#last.delete(key)
    })
    return result
  }

  /** Returns the buffer of a running transaction that writes this value, or `value`. */
  ownBuffer(key: string, value: Buffer): Buffer {
    const own = this.#values.get(key)
    return own?.equals(value) ? own : value
  }

  /** Resolves when no transaction is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  async #commit(
    transaction: Transaction,
    delivered: (revision: number) => Promise<void> | undefined,
  ): Promise<CommitResult> {
    const { operations } = transaction
    for (const { key, value } of operations) if (value) this.#values.set(key, value)
    try {
      const result = await this.#execute(transaction)
      if (result.committed) await delivered(result.revision)
      return result
    } finally {
      for (const { key } of operations) this.#values.delete(key)
    }
  }

  /** `mayRetry` is false in the second try after a lease has ended. */
  async #execute(transaction: Transaction, mayRetry = true): Promise<CommitResult> {
    const request = requestOf(transaction, await this.#leasesOf(transaction))
    try {
      return resultOf(transaction, await this.#send(request, timeoutMs))
    } catch (error) {
      if (error instanceof EtcdError && error.mayHaveRun) return this.#resolve(transaction, request, error)
      if (mayRetry && error instanceof EtcdError && error.message === leaseNotFoundMessage) {
        this.#options.leases.forget()
        return this.#execute(transaction, false)
      }
      throw failure(error)
    }
  }

  /** Returns the leases of the operations with a time to live, by its seconds. */
  async #leasesOf({ operations }: Transaction): Promise<ReadonlyMap<number, bigint>> {
    const leases = new Map<number, bigint>()
    for (const operation of operations) {
      const ttlSeconds = operation.delete ? 0 : (operation.ttlSeconds ?? 0)
      if (ttlSeconds > 0 && !leases.has(ttlSeconds)) leases.set(ttlSeconds, await this.#lease(ttlSeconds))
    }
    return leases
  }

  async #lease(seconds: number): Promise<bigint> {
    try {
      return await this.#options.leases.leaseFor(seconds)
    } catch (error) {
      throw failure(error)
    }
  }

  #send(request: TxnRequest, ms: number): Promise<TxnResponse> {
    return this.#options.channel.call(txnMethod, request, { timeoutMs: ms, isSafe: false })
  }

  /**
   * Finds out what became of a transaction without an answer. That is possible if it changes a key that must be at a
   * certain revision: it can be sent again, since at most one of the two changes that key. If both the first change of
   * the key after that revision and its value are not the transaction's, it was not executed and never will be. An
   * equal value may be of another process, so that remains unknown.
   */
  async #resolve(transaction: Transaction, request: TxnRequest, lost: EtcdError): Promise<CommitResult> {
    const guard = transaction.conditions.find(({ revision }) => revision > 0 && revision)
    const operation = guard && transaction.operations.find(({ key }) => key === guard.key)
    if (!guard || !operation) throw unknown(lost)
    const deadline = performance.now() + timeoutMs
    for (let error = lost; ; ) {
      const remainingMs = deadline - performance.now()
      if (remainingMs <= 0) throw unknown(error)
      try {
        const result = resultOf(transaction, await this.#send(request, remainingMs))
        if (result.committed) return result
        if (isCertain(operation, await this.#options.firstChange(guard.key, guard.revision))) return result
        throw unknown(lost)
      } catch (again) {
        if (!isTemporary(again)) throw again instanceof CommitUnknownError ? again : unknown(again)
        error = again
      }
    }
  }
}

const unknown = (cause: unknown): CommitUnknownError => new CommitUnknownError(messageOf(cause), { cause })

/** True if another transaction has changed the key, so that this one can never be executed. */
function isCertain(operation: Operation, first: ChangeEvent | undefined): boolean {
  if (!first) return false
  if (first.type === 'delete') return operation.value !== undefined
  return operation.value === undefined || !first.value!.equals(operation.value)
}

function requestOf({ conditions, operations }: Transaction, leases: ReadonlyMap<number, bigint>): TxnRequest {
  return {
    conditions: conditions.map(({ key, revision }) => ({ key, target: 'revision', value: revision })),
    operations: operations.map((operation) => {
      const { key, value } = operation
      if (operation.delete) return { key }
      return { key, value, lease: leases.get(operation.ttlSeconds ?? 0) ?? 0n }
    }),
    otherwise: conditions.map(({ key }) => key),
  }
}

function resultOf({ conditions }: Transaction, { succeeded, current, found }: TxnResponse): CommitResult {
  if (succeeded) return { committed: true, revision: current }
  return { committed: false, current: conditions.map((_, i) => found[i]?.entry) }
}
