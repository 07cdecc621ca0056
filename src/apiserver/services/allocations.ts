/**
 * Cluster IPs and node ports in use: those of the Services, IPAddresses and ServiceCIDRs in the cachers, and the claims
 * of writes in progress. No other state is held, so none can leak.
 */
import type { Service } from '../../api/core/service/index.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { CacheView } from '../registry/cache/cache-view.ts'
import type { Cacher } from '../registry/cache/cacher.ts'
import type { ObjectChange } from '../registry/cache/object-change.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { type AllocationMetrics, allocationMetrics } from './allocation-metrics.ts'
import { addedRanges } from './ranges/added-ranges.ts'
import { type AddressRange, canonicalAddress, type Family } from './ranges/address-range.ts'
import { findFreePort, type PortRange } from './ranges/port-range.ts'

export interface AllocationOptions {
  readonly services: Cacher
  readonly ipAddresses: Cacher
  readonly serviceCidrs: Cacher
  /** The ranges of the server: one, or one of each family; the first is the default. */
  readonly ranges: readonly AddressRange[]
  readonly nodePorts: PortRange
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  readonly metrics?: MetricsRegistry
}

/** The current state of the store. Do not hold it across an await. */
export interface StoredAllocations {
  readonly services: CacheView
  readonly ipAddresses: CacheView
  readonly serviceCidrs: CacheView
}

interface Held {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

/** The cluster IPs of a Service, without `None`. */
export function addressesOf({ spec }: Service): string[] {
  return (spec?.clusterIPs ?? []).filter((address) => address && address !== 'None').map(canonicalAddress)
}

function portsOf({ spec }: Service): number[] {
  const ports = (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0)
  return [...new Set([...ports, spec?.healthCheckNodePort ?? 0])].filter((port) => port > 0)
}

export class Allocations {
  readonly ranges: readonly AddressRange[]
  readonly #options: AllocationOptions
  readonly #held = new Map<string, Held>()
  readonly #addresses = new Map<string, number>()
  readonly #ports = new Map<number, number>()
  readonly #claimedAddresses = new Set<string>()
  readonly #claimedPorts = new Set<number>()
  readonly #metrics: AllocationMetrics | undefined
  /** The view of Services to which this is subscribed. */
  #subscribedView: CacheView | undefined

  constructor(options: AllocationOptions) {
    this.#options = options
    this.ranges = options.ranges
    this.#metrics =
      options.metrics &&
      allocationMetrics(options.metrics, { ranges: () => this.#usedRanges(), ports: () => this.#usedPorts() })
  }

  #usedRanges() {
    const { live } = this.#options.serviceCidrs
    return [...this.ranges, ...(live ? addedRanges(live) : [])].map((range) => {
      let allocated = 0
      for (const address of this.#addresses.keys()) if (range.contains(address)) allocated++
      return { cidr: range.text, allocated, available: range.size - allocated }
    })
  }

  #usedPorts() {
    const { first, last } = this.#options.nodePorts
    return { allocated: this.#ports.size, available: last - first + 1 - this.#ports.size }
  }

  /** Resolves when the caches are synced. */
  async ready(): Promise<StoredAllocations> {
    const { services: ofServices, ipAddresses: ofAddresses, serviceCidrs: ofRanges } = this.#options
    const [services, ipAddresses, serviceCidrs] = await Promise.all([
      ofServices.ready(),
      ofAddresses.ready(),
      ofRanges.ready(),
    ])
    if (this.#subscribedView !== services) this.#subscribe(services)
    return { services, ipAddresses, serviceCidrs }
  }

  #subscribe(services: CacheView): void {
    this.#subscribedView = services
    for (const held of [this.#held, this.#addresses, this.#ports]) held.clear()
    for (const object of services.objects.slice(services.resource.range(''))) this.#set(object.key, object)
    services.subscribe({
      changes: (batch: readonly ObjectChange[]) => {
        if (this.#subscribedView !== services) return
        for (const { type, object } of batch) this.#set(object.key, type === 'put' ? object : undefined)
      },
      end: () => {
        if (this.#subscribedView === services) this.#subscribedView = undefined
      },
    })
  }

  #set(key: string, object: StoredObject | undefined): void {
    const before = this.#held.get(key)
    if (before) {
      for (const address of before.addresses) decrease(this.#addresses, address)
      for (const port of before.ports) decrease(this.#ports, port)
      this.#held.delete(key)
    }
    if (!object) return
    const service = object.parse<Service>()
    const now: Held = { addresses: addressesOf(service), ports: portsOf(service) }
    for (const address of now.addresses) increase(this.#addresses, address)
    for (const port of now.ports) increase(this.#ports, port)
    this.#held.set(key, now)
  }

  /** Keys of stored Services with their addresses. */
  *addresses(): Generator<readonly [key: string, addresses: readonly string[]]> {
    for (const [key, { addresses }] of this.#held) yield [key, addresses]
  }

  hasService(address: string): boolean {
    return this.#addresses.has(address)
  }

  /** Starts the claim of one write. End the claim when the write ends. */
  claim({ ipAddresses, serviceCidrs }: StoredAllocations, dryRun: boolean): Claim {
    const { nodePorts, random } = this.#options
    const metrics = this.#metrics
    const ranges = [...this.ranges, ...addedRanges(serviceCidrs)]
    const isAddressTaken = (address: string): boolean =>
      this.#addresses.has(address) ||
      this.#claimedAddresses.has(address) ||
      ipAddresses.objects.get(ipAddresses.resource.key('', address)) !== undefined
    const isPortTaken = (port: number): boolean => this.#ports.has(port) || this.#claimedPorts.has(port)
    const addresses: string[] = []
    const ports: number[] = []
    const claimAddress = (address: string): string => {
      this.#claimedAddresses.add(address)
      addresses.push(address)
      return address
    }
    const claimPort = (port: number): number => {
      this.#claimedPorts.add(port)
      ports.push(port)
      return port
    }
    return {
      address(wanted) {
        const address = canonicalAddress(wanted)
        const range = ranges.find((range) => range.contains(address))
        // Upstream's dry run checks one range, a write searches all: the messages differ, and tools parse them.
        if (!range)
          return dryRun ? notInRange(address, ranges) : 'the provided network does not match the current range'
        const isTaken = isAddressTaken(address)
        metrics?.address(range.text, 'static', !isTaken, 0)
        if (isTaken) return 'provided IP is already allocated'
        claimAddress(address)
      },
      nextAddress(family) {
        for (const range of ranges) {
          if (range.family !== family) continue
          const started = performance.now()
          const address = range.findFree(isAddressTaken, random)
          metrics?.address(range.text, 'dynamic', address !== undefined, (performance.now() - started) / 1000)
          if (address) return claimAddress(address)
        }
      },
      port(wanted) {
        if (wanted < nodePorts.first || wanted > nodePorts.last)
          return `provided port is not in the valid range. The range of valid ports is ${nodePorts.text}`
        const isTaken = isPortTaken(wanted)
        metrics?.port('static', !isTaken)
        if (isTaken) return 'provided port is already allocated'
        claimPort(wanted)
      },
      nextPort() {
        const port = findFreePort(nodePorts, isPortTaken, random)
        metrics?.port('dynamic', port !== undefined)
        return port && claimPort(port)
      },
      end: () => {
        for (const address of addresses) this.#claimedAddresses.delete(address)
        for (const port of ports) this.#claimedPorts.delete(port)
      },
    }
  }
}

/** Addresses and ports reserved for one write until it ends; then they are stored, or free again. */
export interface Claim {
  /** Claims this address, or returns the reason why it cannot. */
  address(wanted: string): string | undefined
  /** Claims any free address; undefined if all are in use. */
  nextAddress(family: Family): string | undefined
  /** Claims this node port, or returns the reason why it cannot. */
  port(wanted: number): string | undefined
  nextPort(): number | undefined
  end(): void
}

function notInRange(address: string, ranges: readonly AddressRange[]): string {
  const range = ranges.find(({ family }) => (family === 'IPv6') === address.includes(':')) ?? ranges[0]
  return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range?.text}`
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function decrease<Key>(counts: Map<Key, number>, key: Key): void {
  const count = (counts.get(key) ?? 0) - 1
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
