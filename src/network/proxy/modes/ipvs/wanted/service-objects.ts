/** The parts of IPVS and of sets that one Service needs: a pure function of its ports. */
import { parseCidr, rangeHas } from '../../../../../lib/cidr.ts'
import type { VirtualService } from '../../../../netlink/ipvs/virtual-service.ts'
import type { Endpoint } from '../../../picture/endpoint.ts'
import type { ProxiedPort } from '../../../picture/service-picture.ts'
import type { IpFamily, Protocol } from '../../../picture/service-port.ts'
import type { SetEntry, SetKey } from '../rules/ip-sets.ts'

/** A virtual service, with the endpoints that get its connections. */
export interface WantedService extends VirtualService {
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port'>[]
}

/** An address of a load balancer that this node itself must not use: it is not in the source ranges. */
export interface BlockedAddress {
  readonly address: string
  readonly port: number
  readonly protocol: Protocol
}

/** All that a Service needs. Addresses of the interface are the entries of the set `ipvsIps`. */
export interface ServiceObjects {
  readonly services: readonly WantedService[]
  readonly entries: readonly SetEntry[]
  readonly blocked: readonly BlockedAddress[]
}

/** The facts of the node that Services depend on. */
export interface NodeFacts {
  readonly family: IpFamily
  readonly scheduler: string
  /** The node's own address; empty if unknown. */
  readonly nodeAddress: string
  /** Addresses with node ports. */
  readonly nodePortAddresses: readonly string[]
  /** All addresses of the machine's other interfaces: those need no place on the interface of the mode. */
  readonly machineAddresses: ReadonlySet<string>
}

const nodePortSets = {
  TCP: ['nodePortTcp', 'nodePortLocalTcp'],
  UDP: ['nodePortUdp', 'nodePortLocalUdp'],
  SCTP: ['nodePortSctp', 'nodePortLocalSctp'],
} as const satisfies Record<Protocol, readonly [SetKey, SetKey]>

/** @example serviceObjects(picture.get('default/web') ?? [], facts) */
export function serviceObjects(ports: readonly ProxiedPort[], facts: NodeFacts): ServiceObjects {
  const all = ports.map((port) => new PortObjects(port, facts).collect())
  return {
    services: all.flatMap(({ services }) => services),
    entries: all.flatMap(({ entries }) => entries),
    blocked: all.flatMap(({ blocked }) => blocked),
  }
}

/** True for addresses that the kernel never forwards from: it stops packets from loopback to other machines. */
export const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

class PortObjects {
  readonly #port: ProxiedPort
  readonly #facts: NodeFacts
  readonly #services: WantedService[] = []
  readonly #entries: SetEntry[] = []
  readonly #blocked: BlockedAddress[] = []

  constructor(port: ProxiedPort, facts: NodeFacts) {
    this.#port = port
    this.#facts = facts
  }

  collect(): ServiceObjects {
    const { clusterIP, endpoints, isInternalLocal, healthCheckNodePort, externalIPs, loadBalancerIPs } = this.#port
    // Connections of an endpoint to itself.
    for (const { address, port, isLocal } of endpoints.all)
      if (isLocal) this.#add('loopBack', `${this.#withPort(address, port)},${address}`)
    this.#add('clusterIp', this.#withPort(clusterIP))
    this.#add('ipvsIps', clusterIP)
    this.#serve(clusterIP, this.#port.port, isInternalLocal)
    for (const address of externalIPs) this.#addExternalIp(address)
    for (const address of loadBalancerIPs) if (!isLoopback(address)) this.#addLoadBalancer(address)
    this.#addNodePort()
    if (healthCheckNodePort !== 0) this.#add('healthCheckNodePort', String(healthCheckNodePort))
    return { services: this.#services, entries: this.#entries, blocked: this.#blocked }
  }

  #addExternalIp(address: string): void {
    this.#add(this.#port.isExternalLocal ? 'externalIpLocal' : 'externalIp', this.#withPort(address))
    this.#serveExternal(address)
  }

  #addLoadBalancer(address: string): void {
    const { isExternalLocal, loadBalancerSourceRanges, port, protocol } = this.#port
    const { nodeAddress } = this.#facts
    const entry = this.#withPort(address)
    this.#add('loadBalancer', entry)
    if (isExternalLocal) this.#add('loadBalancerLocal', entry)
    if (loadBalancerSourceRanges.length > 0) {
      this.#add('loadBalancerFirewall', entry)
      for (const range of loadBalancerSourceRanges.flatMap(halvesOfAll))
        this.#add('loadBalancerSourceCidr', `${entry},${range}`)
      // The node's own connections have the address of the load balancer, which is one of the node, as their source.
      if (nodeAddress !== '' && loadBalancerSourceRanges.some((range) => rangeHas(range, nodeAddress)))
        this.#add('loadBalancerSourceIp', `${entry},${address}`)
      else this.#blocked.push({ address, port, protocol })
    }
    this.#serveExternal(address)
  }

  #addNodePort(): void {
    const { nodePort, protocol, isExternalLocal } = this.#port
    const { nodePortAddresses } = this.#facts
    if (nodePort === 0 || nodePortAddresses.length === 0) return
    const [all, local] = nodePortSets[protocol]
    const found =
      protocol === 'SCTP' ? nodePortAddresses.map((address) => this.#withPort(address, nodePort)) : [String(nodePort)]
    for (const entry of found) {
      this.#add(all, entry)
      if (isExternalLocal) this.#add(local, entry)
    }
    for (const address of nodePortAddresses) this.#serve(address, nodePort, isExternalLocal)
  }

  #serveExternal(address: string): void {
    const { port, isExternalLocal } = this.#port
    if (!this.#facts.machineAddresses.has(address)) this.#add('ipvsIps', address)
    this.#serve(address, port, isExternalLocal)
  }

  /** Without endpoints on this node, pods and the node itself use others also with the policy `Local`, as upstream. */
  #serve(address: string, port: number, isLocal: boolean): void {
    const { protocol, affinitySeconds, endpoints } = this.#port
    const { scheduler } = this.#facts
    this.#services.push({
      ...{ protocol, address, port, scheduler },
      persistenceSeconds: affinitySeconds,
      // As upstream: the scheduler mh then spreads connections of one client.
      hashesPorts: scheduler === 'mh',
      endpoints: isLocal && endpoints.local.length > 0 ? endpoints.local : endpoints.cluster,
    })
  }

  #withPort(address: string, port: number = this.#port.port): string {
    return `${address},${this.#port.protocol.toLowerCase()}:${port}`
  }

  #add(set: SetKey, entry: string): void {
    this.#entries.push({ set, entry })
  }
}

/** ipset has no range of all addresses. */
function halvesOfAll(range: string): string[] {
  const cidr = parseCidr(range)
  if (cidr?.prefix !== 0) return [range]
  return cidr.family === 4 ? ['0.0.0.0/1', '128.0.0.0/1'] : ['::/1', '8000::/1']
}
