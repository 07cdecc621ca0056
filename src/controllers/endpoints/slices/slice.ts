/** What all controllers of EndpointSlices share: how slices are labelled, found, named and grouped by their ports. */
import type { EndpointSlice } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'

export type Endpoint = NonNullable<EndpointSlice['endpoints']>[number]
export type SlicePort = NonNullable<EndpointSlice['ports']>[number]
export type AddressType = 'IPv4' | 'IPv6'

export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const serviceNameLabel = 'kubernetes.io/service-name'
export const headlessLabel = 'service.kubernetes.io/headless'

/** Slices by the key of the Service that they are for. */
export function byService({ metadata: { namespace, labels } }: EndpointSlice): string[] {
  const service = labels?.[serviceNameLabel]
  return service ? [`${namespace}/${service}`] : []
}

export const managerOf = ({ metadata }: EndpointSlice): string | undefined => metadata.labels?.[managedByLabel]

/** How the names of slices begin; a long name leaves no room for the dash. */
export const generatedName = (service: string): string =>
  dnsSubdomain(`${service}-x`).length === 0 ? `${service}-` : service

/** Slices may be put together if their ports are the same, in any order. */
export const portsKey = (ports: readonly SlicePort[] | undefined | null): string =>
  (ports ?? [])
    .map(({ name, port, protocol, appProtocol }) =>
      JSON.stringify([name ?? '', port ?? null, protocol ?? 'TCP', appProtocol ?? '']),
    )
    .sort()
    .join()

/** The same endpoint, whatever its state is. */
export const identityOf = ({ addresses, hostname = '', targetRef }: Endpoint): string =>
  [[...(addresses ?? [])].sort().join(), hostname, targetRef?.namespace ?? '', targetRef?.name ?? ''].join('|')

/** What is to be done to slices. */
export interface SlicePlan {
  /** Without names. */
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
  readonly unchanged: readonly EndpointSlice[]
}

/** What several plans come to. */
export const joined = (plans: readonly SlicePlan[]): SlicePlan => ({
  create: plans.flatMap(({ create }) => create),
  update: plans.flatMap(({ update }) => update),
  remove: plans.flatMap(({ remove }) => remove),
  unchanged: plans.flatMap(({ unchanged }) => unchanged),
})

/**
 * The plan with fewer writes: slices that would go become those that would come, where `owner` has them and their type
 * is the same.
 */
export function recycled({ create, update, remove, unchanged }: SlicePlan, owner: KubeObject): SlicePlan {
  const coming = [...create]
  const changed = [...update]
  const going = remove.filter((slice) => {
    const next = isOwnedBy(slice, owner) ? coming.findIndex(({ addressType }) => addressType === slice.addressType) : -1
    const [replacement] = next < 0 ? [] : coming.splice(next, 1)
    if (!replacement) return true
    const { generateName: _, ...metadata } = replacement.metadata
    const { name, uid, resourceVersion } = slice.metadata
    changed.push({ ...replacement, metadata: { ...metadata, name, uid, resourceVersion } })
    return false
  })
  return { create: coming, update: changed, remove: going, unchanged }
}

export const isOwnedBy = ({ metadata }: EndpointSlice, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(
    ({ uid, kind, apiVersion }) => uid === owner.metadata.uid && kind === owner.kind && apiVersion === owner.apiVersion,
  ) ?? false
