/** Transforms of informers: objects with the fields that DNS reads, and no others. */
import type { EndpointSlice, Namespace, Service } from '../../../client/kinds.ts'

const serviceNameLabel = 'kubernetes.io/service-name'

/** Returns a Service with its addresses and ports alone. */
export const trimmedService = ({ apiVersion, kind, metadata, spec = {} }: Service): Service => ({
  apiVersion,
  kind,
  metadata: trimmedMetadata(metadata),
  spec: {
    type: spec.type,
    clusterIP: spec.clusterIP,
    clusterIPs: spec.clusterIPs,
    externalName: spec.externalName,
    ports: spec.ports?.map(({ name, protocol, port }) => ({ name, protocol, port })),
  },
})

/** Returns an EndpointSlice with addresses, host names and readiness of its endpoints. */
export function trimmedSlice({
  apiVersion,
  kind,
  metadata,
  addressType,
  ports,
  endpoints,
}: EndpointSlice): EndpointSlice {
  const service = metadata.labels?.[serviceNameLabel]
  return {
    apiVersion,
    kind,
    metadata: {
      ...trimmedMetadata(metadata),
      ...(service !== undefined && { labels: { [serviceNameLabel]: service } }),
    },
    addressType,
    ports: ports?.map(({ name, protocol, port }) => ({ name, protocol, port })),
    endpoints: endpoints?.map(({ addresses, conditions, hostname }) => ({
      addresses,
      ...(conditions?.ready === false && { conditions: { ready: false } }),
      ...(hostname !== undefined && { hostname }),
    })),
  }
}

/** Returns a Namespace with its name alone. */
export const trimmedNamespace = ({ apiVersion, kind, metadata }: Namespace): Namespace => ({
  apiVersion,
  kind,
  metadata: trimmedMetadata(metadata),
})

const trimmedMetadata = ({ namespace, name, resourceVersion }: Service['metadata']): Service['metadata'] => ({
  namespace,
  name,
  resourceVersion,
})
