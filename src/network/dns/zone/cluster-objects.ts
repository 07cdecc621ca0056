/** The Services, endpoints and namespaces of a cluster, in the order in which DNS looks for them. */
import type { EndpointSlice, Namespace, Service } from '../../../client/kinds.ts'
import {
  type EndpointEntry,
  type ServiceEntry,
  type SliceEntry,
  serviceEntry,
  serviceKey,
  sliceEntry,
} from './service-entry.ts'

/** A name that an address belongs to. */
export interface AddressOwner {
  readonly service: ServiceEntry
  /** Undefined for the cluster IP of a Service. */
  readonly endpoint?: EndpointEntry
}

export class ClusterObjects {
  readonly #namespaces = new Set<string>()
  readonly #services = new Map<string, ServiceEntry>()
  /** Slices by Service, then by their own name. */
  readonly #slices = new Map<string, Map<string, SliceEntry>>()
  /** Keys of Services by address. */
  readonly #owners = new Map<string, Set<string>>()
  /** The addresses of Services in `#owners`. */
  readonly #owned = new Map<string, readonly string[]>()
  #version = 0

  /** Changes with every object. */
  get version(): number {
    return this.#version
  }

  /** Handles a change of a Service: `service` is undefined after a deletion, `old` for a new one. */
  setService(service: Service | undefined, old: Service | undefined): void {
    const entry = serviceEntry((service ?? old)!)
    const key = serviceKey(entry.namespace, entry.name)
    if (service) this.#services.set(key, entry)
    else this.#services.delete(key)
    this.#changed(key)
  }

  /** As `setService`. */
  setSlice(slice: EndpointSlice | undefined, old: EndpointSlice | undefined): void {
    const before = old && sliceEntry(old)
    const after = slice && sliceEntry(slice)
    const name = (slice ?? old)?.metadata.name ?? ''
    if (before && before.service !== after?.service) {
      const slices = this.#slices.get(before.service)
      slices?.delete(name)
      if (slices?.size === 0) this.#slices.delete(before.service)
      this.#changed(before.service)
    }
    if (!after) return
    const slices = this.#slices.get(after.service) ?? new Map<string, SliceEntry>()
    this.#slices.set(after.service, slices.set(name, after))
    this.#changed(after.service)
  }

  /** As `setService`. */
  setNamespace(namespace: Namespace | undefined, old: Namespace | undefined): void {
    const name = (namespace ?? old)?.metadata.name ?? ''
    if (namespace) this.#namespaces.add(name)
    else this.#namespaces.delete(name)
    this.#version++
  }

  hasNamespace(name: string): boolean {
    return this.#namespaces.has(name)
  }

  service(namespace: string, name: string): ServiceEntry | undefined {
    return this.#services.get(serviceKey(namespace, name))
  }

  /** The slices of a Service, sorted by name so that answers have the same order at all servers. */
  slices({ namespace, name }: ServiceEntry): readonly SliceEntry[] {
    const slices = this.#slices.get(serviceKey(namespace, name))
    if (!slices) return []
    return [...slices].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, slice]) => slice)
  }

  /** The names of an address: of the Service with that cluster IP, else of the endpoints of headless Services. */
  ownersOf(address: string): readonly AddressOwner[] {
    const services = [...(this.#owners.get(address) ?? [])].map((key) => this.#services.get(key)!)
    const own = services.filter(({ clusterIPs }) => clusterIPs.includes(address))
    if (own.length > 0) return own.map((service) => ({ service }))
    return services.flatMap((service) =>
      this.slices(service)
        .flatMap(({ endpoints }) => endpoints)
        .filter((endpoint) => endpoint.address === address)
        .map((endpoint) => ({ service, endpoint })),
    )
  }

  #changed(key: string): void {
    this.#version++
    for (const address of this.#owned.get(key) ?? []) {
      const keys = this.#owners.get(address)
      keys?.delete(key)
      if (keys?.size === 0) this.#owners.delete(address)
    }
    const addresses = this.#addressesOf(key)
    if (addresses.length > 0) this.#owned.set(key, addresses)
    else this.#owned.delete(key)
    for (const address of addresses) this.#owners.set(address, (this.#owners.get(address) ?? new Set()).add(key))
  }

  #addressesOf(key: string): readonly string[] {
    const service = this.#services.get(key)
    if (!service?.isHeadless) return service?.clusterIPs ?? []
    return this.slices(service).flatMap(({ endpoints }) => endpoints.map(({ address }) => address))
  }
}
