/**
 * The picture of Services that a mode of kube-proxy brings into effect: the ports of each Service in one IP family with
 * the endpoints that this node uses. Changes of objects mark Services; only those are computed again.
 */
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { type Endpoint, endpointsOfSlices, portKey } from './endpoint.ts'
import { type IpFamily, portsOfService, type ServicePort } from './service-port.ts'
import { type NodeTopology, type UsedEndpoints, usedEndpoints } from './used-endpoints.ts'

/** A port with its endpoints. */
export interface ProxiedPort extends ServicePort {
  readonly endpoints: UsedEndpoints
}

/** The ports of all Services, by `NAMESPACE/NAME`. Services without ports in the family are absent. */
export type ServicePicture = ReadonlyMap<string, readonly ProxiedPort[]>

const serviceNameLabel = 'kubernetes.io/service-name'
const none: readonly Endpoint[] = []

/**
 * @example
 * const services = new PictureOfServices(4, { node: 'node-1', zone: '' })
 * services.setService(service, undefined)
 * const changed = services.update()
 * for (const key of changed) apply(key, services.picture.get(key) ?? [])
 */
export class PictureOfServices {
  readonly #family: IpFamily
  #topology: NodeTopology
  readonly #services = new Map<string, Service>()
  /** Slices by Service, then by their own name. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>()
  readonly #ports = new Map<string, readonly ProxiedPort[]>()
  readonly #changed = new Set<string>()

  constructor(family: IpFamily, topology: NodeTopology) {
    this.#family = family
    this.#topology = topology
  }

  /** As of the last call of `update`. */
  get picture(): ServicePicture {
    return this.#ports
  }

  /** Handles a change of a Service: `service` is undefined after a deletion, `old` for a new one. */
  setService(service: Service | undefined, old: Service | undefined): void {
    const { metadata } = (service ?? old)!
    const key = `${metadata.namespace}/${metadata.name}`
    if (service) this.#services.set(key, service)
    else this.#services.delete(key)
    this.#changed.add(key)
  }

  /** Handles a change of an EndpointSlice, as `setService`. Its label names the Service, and may change. */
  setSlice(slice: EndpointSlice | undefined, old: EndpointSlice | undefined): void {
    const before = old && serviceOf(old)
    const after = slice && serviceOf(slice)
    if (before && before !== after) this.#removeSlice(before, old.metadata.name ?? '')
    if (!slice || !after || slice.addressType !== `IPv${this.#family}`) return
    const slices = this.#slices.get(after) ?? new Map<string, EndpointSlice>()
    this.#slices.set(after, slices.set(slice.metadata.name ?? '', slice))
    this.#changed.add(after)
  }

  /** Handles a change of this node's zone. */
  setTopology(topology: NodeTopology): void {
    if (topology.node === this.#topology.node && topology.zone === this.#topology.zone) return
    this.#topology = topology
    for (const key of this.#services.keys()) this.#changed.add(key)
  }

  /**
   * Brings `picture` up to date; returns the keys of the Services that may have changed. Those without ports in the
   * family are not among them, except for Services that had some before.
   */
  update(): ReadonlySet<string> {
    const changed = new Set<string>()
    for (const key of this.#changed) {
      const ports = this.#computePorts(key)
      if (ports.length === 0 && !this.#ports.delete(key)) continue
      if (ports.length > 0) this.#ports.set(key, ports)
      changed.add(key)
    }
    this.#changed.clear()
    return changed
  }

  #computePorts(key: string): ProxiedPort[] {
    const service = this.#services.get(key)
    const ports = service ? portsOfService(service, this.#family) : []
    if (ports.length === 0) return []
    const endpoints = endpointsOfSlices(this.#slices.get(key)?.values() ?? [], this.#topology.node)
    return ports.map((port) => {
      const ofPort = endpoints.get(portKey(port.name, port.protocol)) ?? none
      return { ...port, endpoints: usedEndpoints(port, ofPort, this.#topology) }
    })
  }

  #removeSlice(service: string, slice: string): void {
    const slices = this.#slices.get(service)
    if (!slices?.delete(slice)) return
    if (slices.size === 0) this.#slices.delete(service)
    this.#changed.add(service)
  }
}

function serviceOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata.labels?.[serviceNameLabel]
  return name === undefined ? undefined : `${metadata.namespace}/${name}`
}
