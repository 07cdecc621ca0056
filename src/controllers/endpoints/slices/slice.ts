/** Labels, look-up, names and plans of slices, shared by the EndpointSlice controllers. */
import type { EndpointSlice } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'

export type Endpoint = NonNullable<EndpointSlice['endpoints']>[number]
export type SlicePort = NonNullable<EndpointSlice['ports']>[number]
export type AddressType = 'IPv4' | 'IPv6'

export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const serviceNameLabel = 'kubernetes.io/service-name'
export const headlessLabel = 'service.kubernetes.io/headless'

/** Index function: slices by the key of their Service. */
export function byService({ metadata: { namespace, labels } }: EndpointSlice): string[] {
  const service = labels?.[serviceNameLabel]
  return service ? [`${namespace}/${service}`] : []
}

export const managerOf = ({ metadata }: EndpointSlice): string | undefined => metadata.labels?.[managedByLabel]

/** The generateName of slices; without the dash if the name is too long. */
export const generatedName = (service: string): string =>
  dnsSubdomain(`${service}-x`).length === 0 ? `${service}-` : service

/** A key for grouping by ports, in any order. */
export const portsKey = (ports: readonly SlicePort[] | undefined | null): string =>
  (ports ?? [])
    .map(({ name, port, protocol, appProtocol }) =>
      JSON.stringify([name ?? '', port ?? null, protocol ?? 'TCP', appProtocol ?? '']),
    )
    .sort()
    .join()

/** Identifies an endpoint regardless of its conditions. */
export const identityOf = ({ addresses, hostname = '', targetRef }: Endpoint): string =>
  [[...(addresses ?? [])].sort().join(), hostname, targetRef?.namespace ?? '', targetRef?.name ?? ''].join('|')

/** The changes to make to slices. */
export interface SlicePlan {
  /** New slices, without names. */
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
  readonly unchanged: readonly EndpointSlice[]
}

/** Concatenates plans. */
export const mergePlans = (plans: readonly SlicePlan[]): SlicePlan => ({
  create: plans.flatMap(({ create }) => create),
  update: plans.flatMap(({ update }) => update),
  remove: plans.flatMap(({ remove }) => remove),
  unchanged: plans.flatMap(({ unchanged }) => unchanged),
})

/** Reduces writes: updates slices of `owner` that would be deleted into slices of the same type to create. */
export function reuseSlices({ create, update, remove, unchanged }: SlicePlan, owner: KubeObject): SlicePlan {
  const toCreate = [...create]
  const changed = [...update]
  const toRemove = remove.filter((slice) => {
    const next = isOwnedBy(slice, owner)
      ? toCreate.findIndex(({ addressType }) => addressType === slice.addressType)
      : -1
    const [replacement] = next < 0 ? [] : toCreate.splice(next, 1)
    if (!replacement) return true
    const { generateName: _, ...metadata } = replacement.metadata
    const { name, uid, resourceVersion } = slice.metadata
    changed.push({ ...replacement, metadata: { ...metadata, name, uid, resourceVersion } })
    return false
  })
  return { create: toCreate, update: changed, remove: toRemove, unchanged }
}

export const isOwnedBy = ({ metadata }: EndpointSlice, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(
    ({ uid, kind, apiVersion }) => uid === owner.metadata.uid && kind === owner.kind && apiVersion === owner.apiVersion,
  ) ?? false
