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
import { Claim } from './claim.ts'
import { addedRanges } from './ranges/added-ranges.ts'
import { type AddressRange, canonicalAddress } from './ranges/address-range.ts'
import type { PortRange } from './ranges/port-range.ts'
import { UsedValues } from './used-values.ts'

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

/** The addresses and node ports of a Service. */
interface ServiceValues {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

/** The cluster IPs of a Service, without `None`. */
export function addressesOf({ spec }: Service): string[] {
  return (spec?.clusterIPs ?? []).filter((address) => address && address !== 'None').map(canonicalAddress)
}

/** The node ports of a Service, each once. */
export function portsOf({ spec }: Service): number[] {
  const ports = (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0)
  return [...new Set([...ports, spec?.healthCheckNodePort ?? 0])].filter((port) => port > 0)
}

export class Allocations {
  readonly ranges: readonly AddressRange[]
  readonly #options: AllocationOptions
  /** Values of stored Services, by their keys. */
  readonly #stored = new Map<string, ServiceValues>()
  readonly #addresses = new UsedValues<string>()
  readonly #ports = new UsedValues<number>()
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
      for (const address of this.#addresses.stored()) if (range.contains(address)) allocated++
      return { cidr: range.text, allocated, available: range.size - allocated }
    })
  }

  #usedPorts() {
    const { first, last } = this.#options.nodePorts
    const allocated = this.#ports.storedCount
    return { allocated, available: last - first + 1 - allocated }
  }

  /** Resolves when the caches are synced. */
  ready(): Promise<StoredAllocations> {
    return this.#read((cacher) => cacher.ready())
  }

  /** Resolves when the caches show this revision. Rejects with 504 after three seconds. */
  since(revision: number): Promise<StoredAllocations> {
    return this.#read((cacher) => cacher.waitFor(revision))
  }

  /** Resolves when the caches show all writes before the call, also those of other servers. */
  newest(): Promise<StoredAllocations> {
    return this.#read((cacher) => cacher.consistent())
  }

  async #read(view: (cacher: Cacher) => CacheView | Promise<CacheView>): Promise<StoredAllocations> {
    const { services: ofServices, ipAddresses: ofAddresses, serviceCidrs: ofRanges } = this.#options
    const [services, ipAddresses, serviceCidrs] = await Promise.all([
      view(ofServices),
      view(ofAddresses),
      view(ofRanges),
    ])
    if (this.#subscribedView !== services) this.#subscribe(services)
    return { services, ipAddresses, serviceCidrs }
  }

  #subscribe(services: CacheView): void {
    this.#subscribedView = services
    this.#stored.clear()
    this.#addresses.clearStored()
    this.#ports.clearStored()
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
    const old = this.#stored.get(key)
    if (old) {
      for (const address of old.addresses) this.#addresses.removeStored(address)
      for (const port of old.ports) this.#ports.removeStored(port)
      this.#stored.delete(key)
    }
    if (!object) return
    const service = object.parse<Service>()
    const current: ServiceValues = { addresses: addressesOf(service), ports: portsOf(service) }
    for (const address of current.addresses) this.#addresses.addStored(address)
    for (const port of current.ports) this.#ports.addStored(port)
    this.#stored.set(key, current)
  }

  /** Keys of stored Services with their addresses. */
  *addresses(): Generator<readonly [key: string, addresses: readonly string[]]> {
    for (const [key, { addresses }] of this.#stored) yield [key, addresses]
  }

  hasService(address: string): boolean {
    return this.#addresses.isStored(address)
  }

  /** Node ports of stored Services. */
  ports(): Iterable<number> {
    return this.#ports.stored()
  }

  /** Starts the claim of one write. `recorded` are the node ports in the record. End the claim when the write ends. */
  claim({ ipAddresses, serviceCidrs }: StoredAllocations, recorded: ReadonlySet<number>, isDryRun: boolean): Claim {
    const { nodePorts, random } = this.#options
    return new Claim({
      ranges: [...this.ranges, ...addedRanges(serviceCidrs)],
      nodePorts,
      addresses: this.#addresses,
      ports: this.#ports,
      recordedPorts: recorded,
      hasIpAddress: (address) => ipAddresses.objects.get(ipAddresses.resource.key('', address)) !== undefined,
      isDryRun,
      random,
      metrics: this.#metrics,
    })
  }
}
