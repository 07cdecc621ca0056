/** Backends: ports of Services, and the endpoints that get their requests. Computed on use, and again after changes. */
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { type Endpoint, endpointsOfSlices, portKey } from '../../proxy/picture/endpoint.ts'
import type { BackendRef } from './route.ts'

/** The protocol of a backend. WebSockets need HTTP/1.1; gRPC needs HTTP/2. */
export type BackendProtocol = 'http/1.1' | 'h2c'

export type EndpointAddress = Pick<Endpoint, 'address' | 'port'>

/** The endpoints of a backend, in the order of their addresses. */
export interface Target {
  readonly name: string
  readonly protocol: BackendProtocol
  readonly endpoints: readonly EndpointAddress[]
}

/** Why a backend has no endpoints, and what to do: a sentence. */
export interface Unusable {
  readonly fault: string
  /** True if the reference is wrong, false if the Service only has no endpoints now. */
  readonly isMissing: boolean
}

/** Reads the objects of a Service. */
export interface ServiceLookup {
  service(namespace: string, name: string): Service | undefined
  slices(namespace: string, name: string): Iterable<EndpointSlice>
}

export class Backends {
  readonly #lookup: ServiceLookup
  readonly #retire: (endpoint: EndpointAddress) => void
  /** By Service, then by port. */
  readonly #known = new Map<string, Map<string, { readonly ref: BackendRef; readonly target: Target | Unusable }>>()

  /** `retire` is called for each endpoint that is not used any more: idle connections to it should be closed. */
  constructor(lookup: ServiceLookup, retire: (endpoint: EndpointAddress) => void) {
    this.#lookup = lookup
    this.#retire = retire
  }

  /** Returns the endpoints that get requests now. */
  resolve(ref: BackendRef): Target | Unusable {
    const key = `${ref.namespace}/${ref.name}`
    const ports = this.#known.get(key) ?? new Map<string, { ref: BackendRef; target: Target | Unusable }>()
    this.#known.set(key, ports)
    const port = `${typeof ref.port} ${ref.port} ${ref.isGrpc ?? false}`
    const known = ports.get(port)
    if (known) return known.target
    const target = targetOf(ref, this.#lookup)
    ports.set(port, { ref, target })
    return target
  }

  /** Handles a change of a Service or of its EndpointSlices. */
  refresh(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    const ports = this.#known.get(key)
    if (!ports) return
    this.#known.delete(key)
    const old = [...ports.values()].flatMap(({ target }) => ('endpoints' in target ? target.endpoints : []))
    const current = new Set<string>()
    for (const { ref } of ports.values()) {
      const target = this.resolve(ref)
      if ('endpoints' in target) for (const endpoint of target.endpoints) current.add(keyOfEndpoint(endpoint))
    }
    for (const endpoint of old) if (!current.has(keyOfEndpoint(endpoint))) this.#retire(endpoint)
  }
}

const keyOfEndpoint = ({ address, port }: EndpointAddress): string => `${address} ${port}`

function targetOf(ref: BackendRef, lookup: ServiceLookup): Target | Unusable {
  const name = `${ref.namespace}/${ref.name}`
  const service = lookup.service(ref.namespace, ref.name)
  if (!service) return { isMissing: true, fault: `Service ${name} does not exist: create it, or change the backend` }
  if (service.spec?.type === 'ExternalName')
    return { isMissing: true, fault: `Service ${name} has type ExternalName, which has no endpoints: use another type` }
  const port = service.spec?.ports?.find((one) =>
    typeof ref.port === 'string' ? one.name === ref.port : one.port === ref.port,
  )
  if (!port || (port.protocol ?? 'TCP') !== 'TCP')
    return { isMissing: true, fault: `Service ${name} has no TCP port ${ref.port}: change the port of the backend` }
  const found = endpointsOfSlices(lookup.slices(ref.namespace, ref.name), '').get(portKey(port.name ?? '', 'TCP')) ?? []
  const ready = found.filter(({ isReady }) => isReady)
  const used = ready.length > 0 ? ready : found.filter(({ isServing, isTerminating }) => isServing && isTerminating)
  if (used.length === 0)
    return {
      isMissing: false,
      fault: `Service ${name} has no ready endpoints: see kubectl -n ${ref.namespace} describe service ${ref.name}`,
    }
  return {
    name: `${name}:${ref.port}`,
    protocol: ref.isGrpc || isHttp2(port.appProtocol) ? 'h2c' : 'http/1.1',
    endpoints: used.map(({ address, port: number }) => ({ address, port: number })),
  }
}

/** KEP-3726 and names of IANA. */
const http2Protocols: ReadonlySet<string> = new Set(['kubernetes.io/h2c', 'grpc', 'http2', 'h2c'])
const isHttp2 = (appProtocol = ''): boolean => http2Protocols.has(appProtocol.toLowerCase())

/** The key of the Service of a slice, `NAMESPACE/NAME`, as an index function. */
export const serviceKeysOf = ({ metadata }: EndpointSlice): readonly string[] => {
  const name = metadata.labels?.['kubernetes.io/service-name']
  return name === undefined ? [] : [`${metadata.namespace}/${name}`]
}
