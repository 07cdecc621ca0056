/**
 * Selects the endpoints that this node uses for a port of a Service: by readiness, traffic policy, and hints of
 * topology (KEP-2433, KEP-3015). If no endpoint is ready, those that serve while they terminate (KEP-1669).
 */
import type { Endpoint } from './endpoint.ts'
import { type ServicePort, usesClusterEndpoints, usesLocalEndpoints } from './service-port.ts'

/** Where this node is. */
export interface NodeTopology {
  readonly node: string
  /** The label `topology.kubernetes.io/zone`; empty if there is none. */
  readonly zone: string
}

/** The endpoints of a port, for each traffic policy. */
export interface UsedEndpoints {
  /** For connections with the policy `Cluster`. Empty if the port has no such connections. */
  readonly cluster: readonly Endpoint[]
  /** For connections with the policy `Local`. Empty if the port has no such connections. */
  readonly local: readonly Endpoint[]
  /** All endpoints of the two. */
  readonly reachable: readonly Endpoint[]
  /** True if the Service has an endpoint, on any node. False: connections are rejected instead of dropped. */
  readonly hasAny: boolean
  /** Those of all nodes, also those that are not ready or serve no more. */
  readonly all: readonly Endpoint[]
}

const isReady = (endpoint: Endpoint): boolean => endpoint.isReady
const isLeaving = (endpoint: Endpoint): boolean => endpoint.isServing && endpoint.isTerminating

/** @example const { cluster } = usedEndpoints(port, endpoints, { node: 'node-1', zone: 'a' }) */
export function usedEndpoints(
  port: ServicePort,
  endpoints: readonly Endpoint[],
  topology: NodeTopology,
): UsedEndpoints {
  const hasAny = endpoints.some((endpoint) => isReady(endpoint) || isLeaving(endpoint))
  const cluster = usesClusterEndpoints(port) ? clusterEndpoints(endpoints, topology) : []
  const local = usesLocalEndpoints(port) ? readyOrLeaving(endpoints.filter(({ isLocal }) => isLocal)) : []
  const reachable = [...new Set([...cluster, ...local])].sort((a, b) => endpoints.indexOf(a) - endpoints.indexOf(b))
  return { cluster, local, reachable, hasAny, all: endpoints }
}

function readyOrLeaving(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ready = endpoints.filter(isReady)
  return ready.length > 0 ? ready : endpoints.filter(isLeaving)
}

function clusterEndpoints(endpoints: readonly Endpoint[], topology: NodeTopology): readonly Endpoint[] {
  const ready = endpoints.filter(isReady)
  return ready.length > 0 ? nearEndpoints(ready, topology) : endpoints.filter(isLeaving)
}

/** Follows hints only if all ready endpoints have them, and one of them is for this node or zone. */
function nearEndpoints(ready: readonly Endpoint[], { node, zone }: NodeTopology): readonly Endpoint[] {
  if (ready.every(({ nodes }) => nodes.length > 0)) {
    const near = ready.filter(({ nodes }) => nodes.includes(node))
    if (near.length > 0) return near
  }
  if (zone !== '' && ready.every(({ zones }) => zones.length > 0)) {
    const near = ready.filter(({ zones }) => zones.includes(zone))
    if (near.length > 0) return near
  }
  return ready
}
