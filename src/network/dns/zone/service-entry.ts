/** Services and EndpointSlices with the parts that DNS needs, as plain data. */
import type { EndpointSlice, Service } from '../../../client/kinds.ts'

export interface NamedPort {
  /** Empty: the port has no name, and no SRV record. */
  readonly name: string
  /** `tcp`, `udp` or `sctp`. */
  readonly protocol: string
  readonly port: number
}

export interface ServiceEntry {
  readonly namespace: string
  readonly name: string
  /** The cluster IPs of all families; none for headless Services. */
  readonly clusterIPs: readonly string[]
  readonly isHeadless: boolean
  /** The target of a Service of type `ExternalName`, in lower case, without a dot at the end. */
  readonly externalName: string | undefined
  readonly ports: readonly NamedPort[]
}

/** A ready endpoint. */
export interface EndpointEntry {
  readonly address: string
  /** The label before the Service's name: the endpoint's host name, or its address with dashes. */
  readonly label: string
}

export interface SliceEntry {
  /** `NAMESPACE/NAME` of the Service. */
  readonly service: string
  readonly ports: readonly NamedPort[]
  readonly endpoints: readonly EndpointEntry[]
}

export const serviceKey = (namespace: string, name: string): string => `${namespace}/${name}`

/** @example serviceEntry(service).clusterIPs // ['10.96.0.10'] */
export function serviceEntry({ metadata, spec = {} }: Service): ServiceEntry {
  const all = spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP ?? '']
  const isExternal = spec.type === 'ExternalName'
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    clusterIPs: isExternal ? [] : all.filter((address) => address !== '' && address !== 'None'),
    isHeadless: !isExternal && all.includes('None'),
    externalName: isExternal ? spec.externalName?.toLowerCase().replace(/\.$/, '') : undefined,
    ports: (spec.ports ?? []).map(namedPort),
  }
}

/** Undefined for slices of host names, and for those of no Service. */
export function sliceEntry({ metadata, addressType, ports, endpoints }: EndpointSlice): SliceEntry | undefined {
  const service = metadata.labels?.['kubernetes.io/service-name']
  if (service === undefined || (addressType !== 'IPv4' && addressType !== 'IPv6')) return undefined
  return {
    service: serviceKey(metadata.namespace ?? '', service),
    ports: (ports ?? []).flatMap((port) => (port.port ? [namedPort({ ...port, port: port.port })] : [])),
    endpoints: (endpoints ?? []).flatMap(({ addresses, conditions, hostname }) =>
      (conditions?.ready ?? true) ? addresses.map((address) => ({ address, label: hostname || dashed(address) })) : [],
    ),
  }
}

const namedPort = ({ name = '', protocol = 'TCP', port }: { name?: string; protocol?: string; port: number }) => ({
  name: name.toLowerCase(),
  protocol: protocol.toLowerCase(),
  port,
})

const dashed = (address: string): string => address.replace(/[.:]/g, '-')
