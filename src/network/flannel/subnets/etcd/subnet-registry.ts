/** The keys of a network in etcd: its configuration, and subnets of nodes. A write fails if the key has changed. */

import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  Compare_CompareResult,
  Compare_CompareTarget,
  type KeyValue,
  KV,
  Lease as LeaseService,
  type TxnRequestSchema,
} from '#protobuf/flannel-etcd_pb.js'
import { messageOf } from '../../../../lib/message-of.ts'
import type { Lease, LeaseAttributes } from '../subnet-manager.ts'
import type { EtcdCalls } from './client/etcd-calls.ts'
import { leaseValue, parseLeaseValue } from './lease-value.ts'
import { parseSubnetKey, type Subnets, subnetKey } from './subnet-key.ts'

/** A subnet of a node, as etcd has it. */
export interface StoredLease extends Lease {
  /** The revision of its last change. */
  readonly revision: bigint
  /** The lease of etcd; 0 for a reservation, which does not expire. */
  readonly leaseId: bigint
}

/** All subnets at a revision. */
export interface StoredLeases {
  readonly revision: bigint
  readonly leases: readonly StoredLease[]
}

/** The lease of etcd that a key has been given. */
export interface GrantedLease {
  readonly id: bigint
  /** In seconds. */
  readonly seconds: number
}

export interface WriteResult {
  readonly revision: bigint
  readonly granted: GrantedLease | undefined
}

export class SubnetRegistry {
  readonly #calls: EtcdCalls
  readonly #prefix: string
  readonly #log: (line: string) => void
  /** Values that are no leases, which were logged. */
  readonly #faults = new Set<string>()

  /** `prefix` is `--etcd-prefix`. */
  constructor(calls: EtcdCalls, prefix: string, log: (line: string) => void) {
    this.#calls = calls
    this.#prefix = prefix.replace(/\/+$/, '')
    this.#log = log
  }

  get configKey(): string {
    return `${this.#prefix}/config`
  }

  /** The range of all subnets. */
  get range(): { readonly key: Uint8Array; readonly rangeEnd: Uint8Array } {
    // A zero follows the slash in ASCII.
    return { key: Buffer.from(`${this.#prefix}/subnets/`), rangeEnd: Buffer.from(`${this.#prefix}/subnets0`) }
  }

  /** Resolves with the text of the configuration; undefined if there is none. */
  async config(): Promise<string | undefined> {
    const { kvs } = await this.#calls.call(KV.method.range, { key: Buffer.from(this.configKey) }, { isSafe: true })
    return kvs[0] && Buffer.from(kvs[0].value).toString()
  }

  /** Resolves with all subnets. Keys that are none are logged. */
  async list(): Promise<StoredLeases> {
    const { header, kvs } = await this.#calls.call(KV.method.range, this.range, { isSafe: true })
    return { revision: header?.revision ?? 0n, leases: kvs.flatMap((entry) => this.leaseOf(entry) ?? []) }
  }

  /** The lease of a key; undefined if key or value are wrong, which is logged once. */
  leaseOf({ key, value, modRevision, lease }: KeyValue): StoredLease | undefined {
    const name = Buffer.from(key).toString()
    const subnets = parseSubnetKey(name)
    try {
      if (!subnets) throw new Error('its name is not like 10.244.1.0-24')
      const attributes = parseLeaseValue(Buffer.from(value).toString())
      const node = attributes.publicIP ?? attributes.publicIPv6 ?? subnetKey(subnets)
      return { node, ...subnets, attributes, revision: modRevision, leaseId: lease }
    } catch (error) {
      const fault = `Ignoring bad subnet node ${name}: ${messageOf(error)}`
      if (!this.#faults.has(fault)) this.#log(fault)
      this.#faults.add(fault)
      return undefined
    }
  }

  /**
   * Creates a subnet if nobody has it. Resolves with undefined if another node was faster. `unchangedSince` is the
   * revision of a list: with it, no other subnet may have been written after it.
   */
  create(
    subnets: Subnets,
    attributes: LeaseAttributes,
    seconds: number,
    unchangedSince?: bigint,
  ): Promise<WriteResult | undefined> {
    const compare = [
      {
        target: Compare_CompareTarget.VERSION,
        result: Compare_CompareResult.EQUAL,
        key: this.#keyOf(subnets),
        targetUnion: { case: 'version' as const, value: 0n },
      },
      ...(unchangedSince === undefined
        ? []
        : [
            {
              target: Compare_CompareTarget.MOD,
              result: Compare_CompareResult.LESS,
              ...this.range,
              targetUnion: { case: 'modRevision' as const, value: unchangedSince + 1n },
            },
          ]),
    ]
    return this.#put(compare, subnets, attributes, seconds)
  }

  /**
   * Writes the attributes of a subnet, with a new lease of etcd, or with `seconds` undefined, without one. Resolves
   * with undefined if the key has changed since `revision`.
   */
  update(
    subnets: Subnets,
    attributes: LeaseAttributes,
    seconds: number | undefined,
    revision: bigint,
  ): Promise<WriteResult | undefined> {
    return this.#put([this.#unchanged(subnets, revision)], subnets, attributes, seconds)
  }

  /** Deletes a subnet that has not changed since `revision`. */
  async remove(subnets: Subnets, revision: bigint): Promise<void> {
    const compare = [this.#unchanged(subnets, revision)]
    await this.#transact(compare, { case: 'requestDeleteRange', value: { key: this.#keyOf(subnets) } })
  }

  /** Resolves with the seconds that remain of a lease of etcd; undefined if it does not exist. */
  async timeToLive(id: bigint): Promise<number | undefined> {
    const { TTL } = await this.#calls.call(LeaseService.method.leaseTimeToLive, { ID: id }, { isSafe: true })
    return TTL < 0n ? undefined : Number(TTL)
  }

  /** Ends a lease of etcd. Failures are of no importance: it ends by itself. */
  async revoke(id: bigint): Promise<void> {
    await this.#calls.call(LeaseService.method.leaseRevoke, { ID: id }, { isSafe: true }).catch(() => {})
  }

  async #put(
    compare: Comparisons,
    subnets: Subnets,
    attributes: LeaseAttributes,
    seconds: number | undefined,
  ): Promise<WriteResult | undefined> {
    const granted = seconds === undefined ? undefined : await this.#grant(seconds)
    const value = Buffer.from(leaseValue(attributes))
    const put = { key: this.#keyOf(subnets), value, lease: granted?.id ?? 0n }
    const revision = await this.#transact(compare, { case: 'requestPut', value: put })
    if (revision !== undefined) return { revision, granted }
    if (granted) await this.revoke(granted.id)
    return undefined
  }

  async #grant(seconds: number): Promise<GrantedLease> {
    const request = { TTL: BigInt(seconds) }
    const { ID, TTL } = await this.#calls.call(LeaseService.method.leaseGrant, request, { isSafe: true })
    return { id: ID, seconds: Number(TTL) }
  }

  /** Resolves with the revision, or undefined if a comparison failed. */
  async #transact(compare: Comparisons, request: Change): Promise<bigint | undefined> {
    const transaction = { compare, success: [{ request }] }
    const { succeeded, header } = await this.#calls.call(KV.method.txn, transaction, { isSafe: false })
    return succeeded ? (header?.revision ?? 0n) : undefined
  }

  #unchanged(subnets: Subnets, revision: bigint): Comparisons[number] {
    return {
      target: Compare_CompareTarget.MOD,
      result: Compare_CompareResult.EQUAL,
      key: this.#keyOf(subnets),
      targetUnion: { case: 'modRevision', value: revision },
    }
  }

  #keyOf(subnets: Subnets): Buffer {
    return Buffer.from(`${this.#prefix}/subnets/${subnetKey(subnets)}`)
  }
}

type Transaction = MessageInitShape<typeof TxnRequestSchema>
type Comparisons = NonNullable<Extract<Transaction, { compare?: unknown }>['compare']>
type Change = NonNullable<NonNullable<Extract<Transaction, { success?: unknown }>['success']>[number]['request']>
