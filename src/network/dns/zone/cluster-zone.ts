/**
 * The zone of a cluster, by the specification of DNS for Services and pods, version 1.1.0
 * (github.com/kubernetes/dns, docs/specification.md), and as CoreDNS answers where that is silent.
 */
import { isIP } from 'node:net'
import { rcodes, types } from '../wire/record-types.ts'
import type { DnsRecord, RecordData } from '../wire/response.ts'
import type { ClusterObjects } from './cluster-objects.ts'
import type { EndpointEntry, NamedPort, ServiceEntry } from './service-entry.ts'

/** `insecure`: a name of every address in every namespace. `disabled`: pods have no names. */
export type PodRecords = 'insecure' | 'disabled'

export interface ClusterZoneOptions {
  readonly objects: ClusterObjects
  /** `cluster.local`. */
  readonly domain: string
  /** Of all records, in seconds. */
  readonly ttl: number
  readonly pods: PodRecords
}

/** The records of a name in the zone. */
export interface ZoneAnswer {
  readonly rcode: number
  readonly answers: readonly DnsRecord[]
  readonly additional: readonly DnsRecord[]
  /** The name outside of the zone that an alias leads to: its records are part of the answer. */
  readonly alias?: string
}

export const specificationVersion = '1.1.0'

const nothing: ZoneAnswer = { rcode: rcodes.NOERROR, answers: [], additional: [] }
const missing: ZoneAnswer = { ...nothing, rcode: rcodes.NXDOMAIN }

/** An endpoint or a cluster IP, and the name of its address. */
interface Host {
  readonly address: string
  readonly name: string
  readonly ports: readonly NamedPort[]
}

export class ClusterZone {
  readonly #options: ClusterZoneOptions

  constructor(options: ClusterZoneOptions) {
    this.#options = options
  }

  /** Answers a question for a name whose labels, in lower case, are before those of the domain. */
  answer(labels: readonly string[], type: number): ZoneAnswer {
    const { domain, ttl } = this.#options
    const name = [...labels, domain].join('.')
    const top = labels.at(-1)
    if (top === undefined) return this.#apex(name, type)
    if (top === 'svc') return this.#services(labels.slice(0, -1), name, type)
    if (top === 'pod') return this.#pods(labels.slice(0, -1), name, type)
    if (name === `dns-version.${domain}`)
      return type === types.TXT ? answered([{ type: 'TXT', text: specificationVersion, name, ttl }]) : nothing
    if (name === `ns.dns.${domain}`) return this.#nameServer(name, type)
    return name === `dns.${domain}` ? nothing : missing
  }

  /** Answers a question for the name of an address. */
  reverse(address: string, name: string): ZoneAnswer {
    const { objects, ttl } = this.#options
    const owners = objects.ownersOf(address)
    if (owners.length === 0) return missing
    return answered(
      owners.map(({ service, endpoint }) => ({
        type: 'PTR',
        target: endpoint ? `${endpoint.label}.${this.#nameOf(service)}` : this.#nameOf(service),
        name,
        ttl,
      })),
    )
  }

  /** The record of the authority, which negative answers have. */
  get authority(): DnsRecord {
    const { domain, ttl, objects } = this.#options
    const data: RecordData = {
      type: 'SOA',
      server: `ns.dns.${domain}`,
      mailbox: `hostmaster.${domain}`,
      serial: objects.version >>> 0,
      minimum: ttl,
    }
    return { ...data, name: domain, ttl }
  }

  #apex(name: string, type: number): ZoneAnswer {
    const { domain, ttl } = this.#options
    if (type === types.SOA) return answered([this.authority])
    if (type !== types.NS) return nothing
    const server = `ns.dns.${domain}`
    return { ...answered([{ type: 'NS', target: server, name, ttl }]), additional: this.#serverAddresses(server) }
  }

  #nameServer(name: string, type: number): ZoneAnswer {
    return answered(this.#serverAddresses(name).filter((record) => types[record.type] === type))
  }

  /** The addresses of the Service of DNS itself. */
  #serverAddresses(name: string): readonly DnsRecord[] {
    const service = this.#options.objects.service('kube-system', 'kube-dns')
    return (service?.clusterIPs ?? []).map((address) => this.#addressRecord(name, address))
  }

  #services(labels: readonly string[], name: string, type: number): ZoneAnswer {
    const { objects } = this.#options
    const namespace = labels.at(-1)
    if (namespace === undefined) return nothing
    if (!objects.hasNamespace(namespace)) return missing
    const serviceName = labels.at(-2)
    if (serviceName === undefined) return nothing
    const service = objects.service(namespace, serviceName)
    if (!service) return missing
    const prefix = labels.slice(0, -2)
    if (service.externalName !== undefined)
      return prefix.length === 0 ? this.#alias(name, service.externalName) : missing
    if (prefix.length === 0) return this.#ofHosts(name, type, this.#hostsOf(service), service.ports)
    const [first = '', second = ''] = prefix
    if (prefix.length === 2 && first.startsWith('_') && second.startsWith('_'))
      return this.#port(name, type, service, first.slice(1), second.slice(1))
    if (prefix.length === 1 && first.startsWith('_'))
      return this.#hasProtocol(service, first.slice(1)) ? nothing : missing
    return prefix.length === 1 ? this.#ofHosts(name, type, this.#endpoints(service, first), service.ports) : missing
  }

  /** A name that is an address of the cluster is answered here, others by the servers outside. */
  #alias(name: string, target: string): ZoneAnswer {
    const { ttl } = this.#options
    if (isIP(target) !== 0) return nothing
    return { ...answered([{ type: 'CNAME', target, name, ttl }]), alias: target }
  }

  #port(name: string, type: number, service: ServiceEntry, port: string, protocol: string): ZoneAnswer {
    const isAsked = (one: NamedPort): boolean => one.name === port && one.protocol === protocol && port !== ''
    const hosts = this.#hostsOf(service).flatMap((host) => {
      const ports = host.ports.filter(isAsked)
      return ports.length > 0 ? [{ ...host, ports }] : []
    })
    return this.#ofHosts(name, type, hosts, service.ports.filter(isAsked))
  }

  #hasProtocol(service: ServiceEntry, protocol: string): boolean {
    return service.ports.some((port) => port.name !== '' && port.protocol === protocol)
  }

  /** A headless Service without ready endpoints does not exist, says the specification. */
  #ofHosts(name: string, type: number, hosts: readonly Host[], ports: readonly NamedPort[]): ZoneAnswer {
    if (hosts.length === 0) return missing
    if (type === types.A || type === types.AAAA) {
      const family = type === types.A ? 4 : 6
      const addresses = new Set(hosts.map(({ address }) => address).filter((address) => isIP(address) === family))
      return answered([...addresses].map((address) => this.#addressRecord(name, address)))
    }
    return type === types.SRV && ports.length > 0 ? this.#serverRecords(name, hosts) : nothing
  }

  #serverRecords(name: string, hosts: readonly Host[]): ZoneAnswer {
    const { ttl } = this.#options
    const places = new Map<string, { readonly target: string; readonly port: number }>()
    for (const { name: target, ports } of hosts)
      for (const { port } of ports) places.set(`${target}:${port}`, { target, port })
    const weight = Math.max(1, Math.floor(100 / places.size))
    return {
      ...nothing,
      answers: [...places.values()].map((place) => ({ type: 'SRV', priority: 0, weight, ...place, name, ttl })),
      additional: hosts.map((host) => this.#addressRecord(host.name, host.address)),
    }
  }

  #hostsOf(service: ServiceEntry): readonly Host[] {
    if (service.isHeadless) return this.#endpoints(service)
    const name = this.#nameOf(service)
    return service.clusterIPs.map((address) => ({ address, name, ports: service.ports }))
  }

  /** The ready endpoints, or those with a label. */
  #endpoints(service: ServiceEntry, label?: string): readonly Host[] {
    const isAsked = (endpoint: EndpointEntry): boolean => label === undefined || endpoint.label === label
    return this.#options.objects.slices(service).flatMap(({ endpoints, ports }) =>
      endpoints.filter(isAsked).map((endpoint) => ({
        address: endpoint.address,
        name: `${endpoint.label}.${this.#nameOf(service)}`,
        ports,
      })),
    )
  }

  #pods(labels: readonly string[], name: string, type: number): ZoneAnswer {
    const { objects, pods } = this.#options
    if (pods === 'disabled') return missing
    const namespace = labels.at(-1)
    if (namespace === undefined) return nothing
    if (!objects.hasNamespace(namespace)) return missing
    if (labels.length === 1) return nothing
    const address = labels.length === 2 ? addressOf(labels[0]!) : undefined
    if (address === undefined) return missing
    const own = isIP(address) === 4 ? types.A : types.AAAA
    return type === own ? answered([this.#addressRecord(name, address)]) : nothing
  }

  #addressRecord(name: string, address: string): DnsRecord {
    return { type: isIP(address) === 4 ? 'A' : 'AAAA', address, name, ttl: this.#options.ttl }
  }

  #nameOf({ namespace, name }: ServiceEntry): string {
    return `${name}.${namespace}.svc.${this.#options.domain}`
  }
}

const answered = (answers: readonly DnsRecord[]): ZoneAnswer => ({ ...nothing, answers })

/** `10-244-0-7` or `fd00--7`. */
function addressOf(label: string): string | undefined {
  const four = label.replaceAll('-', '.')
  if (isIP(four) === 4) return four
  const six = label.replaceAll('-', ':')
  return isIP(six) === 6 ? six : undefined
}
