/** Endpoints of Services as kube-proxy uses them: one address and port, merged from all EndpointSlices of a Service. */
import { isIP } from 'node:net'
import type { EndpointSlice } from '../../../client/kinds.ts'

/** Where a port of a Service can send a connection. */
export interface Endpoint {
  /** `10.244.0.7` or `fd00::7`, in the form of the EndpointSlice. */
  readonly address: string
  readonly port: number
  /** On this node. */
  readonly isLocal: boolean
  /** Accepts new connections. */
  readonly isReady: boolean
  /** Answers, also while its pod terminates. */
  readonly isServing: boolean
  readonly isTerminating: boolean
  /** Zones that should use it. Empty: no hint. */
  readonly zones: readonly string[]
  /** Nodes that should use it. Empty: no hint. */
  readonly nodes: readonly string[]
}

/** `10.244.0.7:80` or `[fd00::7]:80`: the form in names of chains and in messages. */
export const endpointText = ({ address, port }: Pick<Endpoint, 'address' | 'port'>): string =>
  isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`

/** The name and protocol of a port, which connect a Service's port with the ports of EndpointSlices. */
export const portKey = (name: string, protocol: string): string => `${name}/${protocol}`

/**
 * The endpoints of all slices of a Service, by `portKey` and in the order of `endpointText`. An address that occurs
 * in two slices, as while an endpoint moves from one to the other, is one endpoint: the ready one, if any.
 */
export function endpointsOfSlices(
  slices: Iterable<EndpointSlice>,
  node: string,
): ReadonlyMap<string, readonly Endpoint[]> {
  const byPort = new Map<string, Map<string, Endpoint>>()
  for (const slice of slices)
    for (const { name = '', protocol = 'TCP', port } of slice.ports ?? []) {
      if (!port) continue
      const key = portKey(name, protocol)
      const known = byPort.get(key) ?? new Map<string, Endpoint>()
      byPort.set(key, known)
      for (const endpoint of endpointsOf(slice, port, node)) {
        const text = endpointText(endpoint)
        known.set(text, merged(known.get(text), endpoint))
      }
    }
  return new Map([...byPort].map(([key, endpoints]) => [key, inOrder(endpoints)]))
}

function* endpointsOf({ endpoints = [] }: EndpointSlice, port: number, node: string): Generator<Endpoint> {
  for (const { addresses, conditions, nodeName, hints } of endpoints) {
    const address = addresses[0]
    if (!address) continue
    const isReady = conditions?.ready ?? true
    yield {
      address,
      port,
      isLocal: nodeName === node,
      isReady,
      isServing: conditions?.serving ?? isReady,
      isTerminating: conditions?.terminating ?? false,
      zones: hints?.forZones?.map(({ name }) => name) ?? [],
      nodes: hints?.forNodes?.map(({ name }) => name) ?? [],
    }
  }
}

function merged(known: Endpoint | undefined, found: Endpoint): Endpoint {
  if (!known) return found
  const better = found.isReady || !known.isReady ? found : known
  return { ...better, isLocal: known.isLocal || found.isLocal }
}

const inOrder = (endpoints: ReadonlyMap<string, Endpoint>): Endpoint[] =>
  [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint)
