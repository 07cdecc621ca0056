/** EndpointSlices of discovery v1beta1, whose endpoints have their zone among other topology labels. */
import type { OlderObject } from './index.ts'

type Endpoint = Record<string, unknown> & { topology?: Record<string, string>; nodeName?: string }

const zoneLabel = 'topology.kubernetes.io/zone'
const hostLabel = 'kubernetes.io/hostname'

/** Moves the zone to its own field, and omits the host name if it is that of the node. */
export function currentEndpointSlice({ endpoints }: OlderObject): void {
  for (const endpoint of (endpoints ?? []) as Endpoint[]) {
    // Protobuf has the new name for the same field.
    const { [zoneLabel]: zone, ...rest } =
      endpoint.topology ?? (endpoint.deprecatedTopology as Record<string, string>) ?? {}
    if (zone !== undefined) endpoint.zone = zone
    if (rest[hostLabel] !== undefined && rest[hostLabel] === endpoint.nodeName) delete rest[hostLabel]
    delete endpoint.topology
    endpoint.deprecatedTopology = rest
  }
}
