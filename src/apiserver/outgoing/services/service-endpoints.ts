/** The addresses of a Service: from its EndpointSlices or, if there are none, from its Endpoints. */
import type { V1EndpointSlice, V1Endpoints } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'

/** Ready addresses, with their common ports. */
export interface Subset {
  readonly addresses: readonly EndpointAddress[]
  readonly ports: readonly { readonly name: string; readonly port: number }[]
}

export interface EndpointAddress {
  readonly ip: string
  /** The object with this address: a pod, or undefined. */
  readonly target?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
}

export interface EndpointSources {
  readonly registry: Registry
  readonly endpointSlices: ServedResource
  readonly endpoints: ServedResource
}

/** Undefined if there are neither slices nor Endpoints. */
export async function serviceEndpoints(
  { registry, endpointSlices, endpoints }: EndpointSources,
  namespace: string,
  name: string,
): Promise<readonly Subset[] | undefined> {
  const view = await registry.cacher(endpointSlices).ready()
  const slices = view.objects
    .slice(endpointSlices.range(namespace))
    .filter(({ summary }) => summary.labels['kubernetes.io/service-name'] === name)
  if (slices.length) return slices.map((slice) => ofSlice(slice.parse<Model<V1EndpointSlice>>()))
  const object = await registry.get(endpoints, endpoints.key(namespace, name))
  return object && ofEndpoints(object.parse<Model<V1Endpoints>>())
}

const ofSlice = ({ addressType, endpoints, ports }: Model<V1EndpointSlice>): Subset => ({
  addresses:
    addressType === 'FQDN'
      ? []
      : (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) =>
          conditions?.ready === false ? [] : addresses.map((ip) => ({ ip, target: targetRef })),
        ),
  ports: (ports ?? []).flatMap(({ name = '', port }) => (port === undefined ? [] : [{ name, port }])),
})

const ofEndpoints = ({ subsets }: Model<V1Endpoints>): Subset[] =>
  (subsets ?? []).map(({ addresses, ports }) => ({
    addresses: (addresses ?? []).map(({ ip, targetRef }) => ({ ip, target: targetRef })),
    ports: (ports ?? []).map(({ name = '', port }) => ({ name, port })),
  }))

/** The items, beginning at a random one, to spread load. */
export function rotateRandomly<T>(items: readonly T[], random: () => number): readonly T[] {
  const start = Math.floor(random() * items.length)
  return [...items.slice(start), ...items.slice(0, start)]
}
