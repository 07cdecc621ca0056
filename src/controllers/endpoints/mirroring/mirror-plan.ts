/** Plans the slices that mirror manually managed Endpoints: one for each subset and family. */
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

/** The value of the managed-by label on slices of this controller. */
export const mirrorManager = 'endpointslicemirroring-controller.k8s.io'

const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

type Address = NonNullable<NonNullable<Endpoints['subsets']>[number]['addresses']>[number]

/** Returns false for Endpoints with the skip label and for leader election locks. */
export const shouldMirror = ({ metadata: { labels, annotations } }: Endpoints): boolean =>
  labels?.[skipLabel] !== 'true' && annotations?.[leaderAnnotation] === undefined

export interface MirrorPlan {
  readonly plan: SlicePlan
  readonly invalid: number
  /** Addresses beyond the limit of their subset. */
  readonly exceeding: number
}

interface DesiredSlice {
  readonly addressType: AddressType
  readonly ports: readonly SlicePort[]
  readonly endpoints: Map<string, Endpoint>
}

/** Plans the slices of one Endpoints object; at most `max` addresses of each subset are mirrored. */
export function planMirror(source: Endpoints, existing: readonly EndpointSlice[], max: number): MirrorPlan {
  const desired = new Map<string, DesiredSlice>()
  let invalid = 0
  let exceeding = 0
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
        if (added >= max) exceeding++
        else if (family === 0) invalid++
        else {
          added++
          const addressType = family === 6 ? 'IPv6' : 'IPv4'
          const key = `${addressType} ${portsKey(slicePorts)}`
          const group = desired.get(key) ?? { addressType, ports: slicePorts, endpoints: new Map() }
          desired.set(key, group)
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
    remove: existing.filter((slice) => !desired.has(keyOf(slice))),
    unchanged: [],
  }
  for (const [key, group] of desired) {
    const [existingSlice, ...others] = existing.filter((slice) => keyOf(slice) === key)
    plan.remove.push(...others)
    const slice = sliceOf(source, group, max)
    if (!existingSlice) plan.create.push(slice)
    else if (isSame(existingSlice, slice)) plan.unchanged.push(existingSlice)
    else {
      const { generateName: _, ...metadata } = slice.metadata
      const { name, uid, resourceVersion } = existingSlice.metadata
      plan.update.push({ ...slice, metadata: { ...metadata, name, uid, resourceVersion } })
    }
  }
  return { plan, invalid, exceeding }
}

const keyOf = ({ addressType, ports }: EndpointSlice): string => `${addressType} ${portsKey(ports)}`

const endpointOf = ({ ip, hostname, nodeName, targetRef }: Address, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname && { hostname }),
  ...(nodeName && { nodeName }),
  ...(targetRef && { targetRef }),
})

function sliceOf(source: Endpoints, { addressType, ports, endpoints }: DesiredSlice, max: number): EndpointSlice {
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

/** Returns true if slices are equal regardless of the order of endpoints. */
function isSame(existingSlice: EndpointSlice, desired: EndpointSlice): boolean {
  const sorted = ({ endpoints }: EndpointSlice): [string, Endpoint][] =>
    (endpoints ?? [])
      .map((endpoint): [string, Endpoint] => [identityOf(endpoint), endpoint])
      .sort(([a], [b]) => (a < b ? -1 : 1))
  return (
    semanticallyEqual(sorted(existingSlice), sorted(desired)) &&
    semanticallyEqual(existingSlice.metadata.labels, desired.metadata.labels) &&
    semanticallyEqual(existingSlice.metadata.annotations, desired.metadata.annotations)
  )
}
