/** The subnet manager of etcd: nodes choose their subnets themselves, and hold them by leases. Needs no Kubernetes. */
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../../lib/message-of.ts'
import { isTemporary } from '../../../../storage/etcd/client/etcd-error.ts'
import { type NetworkConfig, parseNetworkConfig } from '../../config/network-config.ts'
import { subnetRange } from '../../config/subnet-range.ts'
import type { Lease, LeaseAttributes, LeaseEvent, StoredNode, SubnetManager } from '../subnet-manager.ts'
import { chooseSubnets, isCompatible } from './choose-subnet.ts'
import type { EtcdCalls } from './client/etcd-calls.ts'
import { LeaseHolder } from './lease-holder.ts'
import type { Subnets } from './subnet-key.ts'
import { type StoredLease, type StoredLeases, SubnetRegistry, type WriteResult } from './subnet-registry.ts'
import { SubnetWatch } from './subnet-watch.ts'

export interface EtcdSubnetManagerOptions {
  readonly calls: EtcdCalls
  /** `--etcd-prefix`. */
  readonly prefix: string
  /** The subnets that the subnet file has from an earlier run. */
  readonly previous: Subnets | undefined
  /** How long before its end a lease is renewed, in ms: `--subnet-lease-renew-margin`. */
  readonly renewMarginMs: number
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (line: string) => void
}

/** The life of a lease without renewals, in seconds: upstream's 24 hours. */
const leaseSeconds = 24 * 60 * 60
/** Other nodes may take a subnet at the same moment. */
const maxTries = 10
/** With two families, any write of another node is a collision. */
const maxDualStackTries = 100
const retryMs = 20

export class EtcdSubnetManager implements SubnetManager {
  readonly #options: EtcdSubnetManagerOptions
  readonly #registry: SubnetRegistry
  #holder: LeaseHolder | undefined

  constructor(options: EtcdSubnetManagerOptions) {
    this.#options = options
    this.#registry = new SubnetRegistry(options.calls, options.prefix, options.log)
  }

  get name(): string {
    return `Etcd Local Manager with Previous Subnet: ${this.#options.previous?.subnet ?? 'None'}`
  }

  async networkConfig(): Promise<NetworkConfig> {
    const text = await this.#registry.config()
    const { configKey } = this.#registry
    if (text === undefined)
      throw new Error(
        `flannel config not found in etcd store at ${configKey}. Did you create your config using etcdv3 API? ` +
          `etcdctl put ${configKey} '{ "Network": "10.244.0.0/16", "Backend": { "Type": "vxlan" } }'`,
      )
    const config = parseNetworkConfig(text)
    if (!config.enableIPv4)
      throw new Error(`EnableIPv4 is false in ${configKey}: subnets in etcd have IPv4; use it alone or with IPv6`)
    for (const family of [4, 6] as const) subnetRange(config, family)
    return config
  }

  /** As upstream: nothing but the subnet outlives a restart. */
  storedNode(): Promise<StoredNode> {
    return Promise.resolve({})
  }

  async acquireLease(attributes: LeaseAttributes, signal: AbortSignal): Promise<Lease> {
    const { random } = this.#options
    const config = await this.networkConfig()
    const tries = config.enableIPv6 ? maxDualStackTries : maxTries
    let problem = 'other nodes take subnets all the time'
    for (let i = 0; i < tries; i++) {
      signal.throwIfAborted()
      try {
        const lease = await this.#tryAcquire(config, attributes)
        if (lease) return lease
      } catch (error) {
        // The write may have happened: the next try finds it.
        if (!isTemporary(error)) throw error
        problem = messageOf(error)
      }
      await delay(retryMs * Math.min(i + 1, 10) * random(), undefined, { signal })
    }
    throw new Error(`max retries reached trying to acquire a subnet: ${problem}; start flannel again`)
  }

  async completeLease(_: Lease, signal: AbortSignal): Promise<void> {
    await this.#holder?.run(signal)
  }

  async watchLeases(notify: (event: LeaseEvent) => void, signal: AbortSignal): Promise<void> {
    const { calls, log } = this.#options
    await new SubnetWatch({ calls, registry: this.#registry, log }).run((event) => {
      if (event.type === 'snapshot') notify(event)
      else if (event.type === 'written') notify({ type: 'added', lease: event.lease })
      else notify({ type: 'removed', lease: { node: '', ...event.subnets, attributes: { backendType: '' } } })
    }, signal)
  }

  /** etcd has no events of nodes: the log has the message. */
  recordEvent(): void {}

  stop(): Promise<void> {
    this.#options.calls.close()
    return Promise.resolve()
  }

  /** Resolves with undefined if another node was faster. */
  async #tryAcquire(config: NetworkConfig, attributes: LeaseAttributes): Promise<Lease | undefined> {
    const { log } = this.#options
    const stored = await this.#registry.list()
    const address = attributes.publicIP
    const own = stored.leases.find((lease) => lease.attributes.publicIP === address)
    if (own && isCompatible(config, own)) {
      log(`Found lease (${nameOf(own)}) for current IP (${address}), reusing`)
      return this.#reuse(own, attributes)
    }
    if (own) {
      log(`Found lease (${nameOf(own)}) for current IP (${address}) but not compatible with current config, deleting`)
      await this.#registry.remove(own, own.revision)
      return undefined
    }
    const subnets =
      this.#previousOf(config, stored.leases) ?? chooseSubnets(config, stored.leases, this.#options.random)
    // With two families, two nodes could choose one range of IPv4 with two of IPv6, which are different keys: any write
    // by another node is a collision.
    const unchangedSince = config.enableIPv6 ? stored.revision : undefined
    const written = await this.#registry.create(subnets, attributes, leaseSeconds, unchangedSince)
    if (!written) return undefined
    log(`Allocated lease (${nameOf(subnets)}) to current node (${address})`)
    return this.#hold(subnets, attributes, written)
  }

  async #reuse(own: StoredLease, attributes: LeaseAttributes): Promise<Lease | undefined> {
    const isReservation = own.leaseId === 0n
    const written = await this.#registry.update(own, attributes, isReservation ? undefined : leaseSeconds, own.revision)
    return written && this.#hold(own, attributes, written)
  }

  /** The subnets of the subnet file, if nobody has them and they are of this network. */
  #previousOf(config: NetworkConfig, others: StoredLeases['leases']): Subnets | undefined {
    const { previous, log } = this.#options
    if (!previous?.subnet || others.some(({ subnet }) => subnet === previous.subnet)) return undefined
    const hasTaken6 = others.some(({ ipv6Subnet }) => ipv6Subnet !== undefined && ipv6Subnet === previous.ipv6Subnet)
    if (!isCompatible(config, previous) || hasTaken6) {
      const reason = 'that is not compatible with the Etcd network config, ignoring'
      log(`Found previously leased subnet (${nameOf(previous)}) ${reason}`)
      return undefined
    }
    log(`Found previously leased subnet (${nameOf(previous)}), reusing`)
    return previous
  }

  #hold({ subnet, ipv6Subnet }: Subnets, attributes: LeaseAttributes, written: WriteResult): Lease {
    const { calls, renewMarginMs, log } = this.#options
    const lease = { node: attributes.publicIP ?? '', subnet, ipv6Subnet, attributes }
    const registry = this.#registry
    const watch = new SubnetWatch({ calls, registry, log: () => {} })
    this.#holder = new LeaseHolder({ lease, written, registry, watch, renewMarginMs, seconds: leaseSeconds, log })
    return { ...lease, expiresAt: this.#holder.expiresAt }
  }
}

const nameOf = ({ subnet, ipv6Subnet }: Subnets): string =>
  [`ip: ${subnet}`, ...(ipv6Subnet === undefined ? [] : [`ipv6: ${ipv6Subnet}`])].join(' ')
