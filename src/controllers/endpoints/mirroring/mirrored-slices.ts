/**
 * Endpoints that somebody keeps by hand, as the slices that mirror them: one for each of their subsets and families.
 */
import { isIP } from 'node:net'
import type { EndpointSlice, Endpoints } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import {
  type AddressType,
  type Endpoint,
  generatedName,
  identityOf,
  managedByLabel,
  portsKey,
  type SlicePlan,
  type SlicePort,
  serviceNameLabel,
} from '../slices/slice.ts'
import { triggerTimeAnnotation } from '../trigger-times.ts'

/** As the slices of this controller say who keeps them. */
export const mirrorManager = 'endpointslicemirroring-controller.k8s.io'

const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

type Address = NonNullable<NonNullable<Endpoints['subsets']>[number]['addresses']>[number]

/** Whether Endpoints want to be mirrored: not those that say no, nor those that are a lock. */
export const wantsMirror = ({ metadata: { labels, annotations } }: Endpoints): boolean =>
  labels?.[skipLabel] !== 'true' && annotations?.[leaderAnnotation] === undefined

export interface Mirror {
  readonly plan: SlicePlan
  readonly invalid: number
  /** Addresses beyond the limit of their subset. */
  readonly tooMany: number
}

interface Wanted {
  readonly addressType: AddressType
  readonly ports: readonly SlicePort[]
  readonly endpoints: Map<string, Endpoint>
}

/** What is to be done to the slices of one Endpoints object; `max` addresses of each subset are mirrored. */
export function mirrored(source: Endpoints, existing: readonly EndpointSlice[], max: number): Mirror {
  const wanted = new Map<string, Wanted>()
  let invalid = 0
  let tooMany = 0
  for (const { addresses, notReadyAddresses, ports } of source.subsets ?? []) {
    const slicePorts = (ports ?? []).map(({ name = '', port, protocol, appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol && { appProtocol }),
    }))
    let added = 0
    for (const [list, ready] of [[addresses, true] as const, [notReadyAddresses, false] as const]) {
      for (const address of list ?? []) {
        const family = isIP(address.ip)
        if (added >= max) tooMany++
        else if (family === 0) invalid++
        else {
          added++
          const addressType = family === 6 ? 'IPv6' : 'IPv4'
          const key = `${addressType} ${portsKey(slicePorts)}`
          const group = wanted.get(key) ?? { addressType, ports: slicePorts, endpoints: new Map() }
          wanted.set(key, group)
          const endpoint = endpointOf(address, ready)
          group.endpoints.set(identityOf(endpoint), endpoint)
        }
      }
    }
  }
  const plan: {
    create: EndpointSlice[]
    update: EndpointSlice[]
    remove: EndpointSlice[]
    unchanged: EndpointSlice[]
  } = {
    create: [],
    update: [],
    remove: existing.filter((slice) => !wanted.has(keyOf(slice))),
    unchanged: [],
  }
  for (const [key, group] of wanted) {
    const [present, ...others] = existing.filter((slice) => keyOf(slice) === key)
    plan.remove.push(...others)
    const slice = sliceOf(source, group, max)
    if (!present) plan.create.push(slice)
    else if (isSame(present, slice)) plan.unchanged.push(present)
    else {
      const { generateName: _, ...metadata } = slice.metadata
      const { name, uid, resourceVersion } = present.metadata
      plan.update.push({ ...slice, metadata: { ...metadata, name, uid, resourceVersion } })
    }
  }
  return { plan, invalid, tooMany }
}

const keyOf = ({ addressType, ports }: EndpointSlice): string => `${addressType} ${portsKey(ports)}`

const endpointOf = ({ ip, hostname, nodeName, targetRef }: Address, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname && { hostname }),
  ...(nodeName && { nodeName }),
  ...(targetRef && { targetRef }),
})

function sliceOf(source: Endpoints, { addressType, ports, endpoints }: Wanted, max: number): EndpointSlice {
  const { namespace, name = '', labels } = source.metadata
  const {
    [triggerTimeAnnotation]: _,
    [lastAppliedAnnotation]: _applied,
    ...annotations
  } = source.metadata.annotations ?? {}
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      generateName: generatedName(name),
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: mirrorManager },
      annotations,
      ownerReferences: [controllerReference(source)],
    },
    addressType,
    endpoints: [...endpoints.values()].slice(0, max),
    ports: [...ports],
  }
}

/** Whether a slice tells the same, in any order. */
function isSame(present: EndpointSlice, wanted: EndpointSlice): boolean {
  const sorted = ({ endpoints }: EndpointSlice): [string, Endpoint][] =>
    (endpoints ?? [])
      .map((endpoint): [string, Endpoint] => [identityOf(endpoint), endpoint])
      .sort(([a], [b]) => (a < b ? -1 : 1))
  return (
    semanticallyEqual(sorted(present), sorted(wanted)) &&
    semanticallyEqual(present.metadata.labels, wanted.metadata.labels) &&
    semanticallyEqual(present.metadata.annotations, wanted.metadata.annotations)
  )
}
