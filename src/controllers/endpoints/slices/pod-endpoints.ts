/** Builds endpoints from a Service's pods and plans their slices. */
import { isIPv6 } from 'node:net'
import type { EndpointSlice, Node, Pod, Service } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { isReady } from '../../pods/phase.ts'
import { addressesOf, hasAddress, hostnameIn, isHeadless, targetPortOf } from '../service-pods.ts'
import { pack } from './packing.ts'
import {
  type AddressType,
  type Endpoint,
  generatedName,
  headlessLabel,
  isOwnedBy,
  managedByLabel,
  portsKey,
  type SlicePlan,
  type SlicePort,
  serviceNameLabel,
} from './slice.ts'

/** The value of the managed-by label on slices of this controller. */
export const sliceManager = 'endpointslice-controller.k8s.io'

export const zoneLabel = 'topology.kubernetes.io/zone'

export interface SliceInputs {
  readonly service: Service
  readonly pods: readonly Pod[]
  readonly nodeOf: (name: string) => Node | undefined
  /** The controller's slices of this Service and address type. */
  readonly existing: readonly EndpointSlice[]
  readonly addressType: AddressType
  readonly max: number
}

/** The address types of a Service. */
export function addressTypesOf({ spec }: Service): AddressType[] {
  const families = (spec?.ipFamilies ?? []).map((family): AddressType => (family === 'IPv6' ? 'IPv6' : 'IPv4'))
  if (families.length > 0) return [...new Set(families)]
  if (!spec?.clusterIP || spec.clusterIP === 'None') return ['IPv4', 'IPv6']
  return [isIPv6(spec.clusterIP) ? 'IPv6' : 'IPv4']
}

/** Plans the slices of one address type, without hints. Pods on missing nodes are excluded, and the nodes returned. */
export function planSlices(given: SliceInputs): {
  readonly plan: SlicePlan
  readonly missingNodes: readonly string[]
} {
  const { service, pods, nodeOf, existing, addressType, max } = given
  const groups = new Map<string, { readonly ports: readonly SlicePort[]; readonly desired: Endpoint[] }>()
  const missingNodes: string[] = []
  for (const pod of pods) {
    if (!hasAddress(pod)) continue
    const ports = slicePortsOf(service, pod)
    const key = portsKey(ports)
    const group = groups.get(key) ?? { ports, desired: [] }
    groups.set(key, group)
    const nodeName = pod.spec?.nodeName ?? ''
    const node = nodeOf(nodeName)
    if (!node && !service.spec?.publishNotReadyAddresses) missingNodes.push(nodeName)
    else {
      const endpoint = endpointOf(pod, node, service, addressType)
      if (endpoint.addresses.length > 0) group.desired.push(endpoint)
    }
  }
  const owned = existing.filter((slice) => isOwnedBy(slice, service))
  const remove = existing.filter((slice) => !owned.includes(slice) || !groups.has(portsKey(slice.ports)))
  const labels = sliceLabels(service)
  const withLabels = (slice: EndpointSlice): EndpointSlice =>
    semanticallyEqual(slice.metadata.labels, labels) ? slice : { ...slice, metadata: { ...slice.metadata, labels } }
  const plans = [...groups].map(([key, { ports, desired }]) =>
    pack({
      existing: owned.filter((slice) => portsKey(slice.ports) === key),
      desired,
      max,
      createEmpty: () => emptySlice(service, addressType, ports),
      withLabels,
    }),
  )
  const plan = mergePlans([...plans, { create: [], update: [], remove, unchanged: [] }])
  return { plan: withPlaceholder(plan, existing.length, emptySlice(service, addressType, [])), missingNodes }
}

const mergePlans = (plans: readonly SlicePlan[]): SlicePlan => ({
  create: plans.flatMap(({ create }) => create),
  update: plans.flatMap(({ update }) => update),
  remove: plans.flatMap(({ remove }) => remove),
  unchanged: plans.flatMap(({ unchanged }) => unchanged),
})

/** Ensures that at least one slice exists, to show that the Service was processed. */
function withPlaceholder(plan: SlicePlan, existing: number, placeholder: EndpointSlice): SlicePlan {
  if (plan.create.length > 0 || plan.remove.length < existing) return plan
  const [only, ...others] = plan.remove
  if (only && others.length === 0 && isPlaceholder(only, placeholder)) return { ...plan, remove: [], unchanged: [only] }
  return { ...plan, create: [placeholder] }
}

const isPlaceholder = (slice: EndpointSlice, placeholder: EndpointSlice): boolean =>
  semanticallyEqual(slice.endpoints, placeholder.endpoints) &&
  semanticallyEqual(slice.ports, placeholder.ports) &&
  semanticallyEqual(slice.metadata.labels, placeholder.metadata.labels) &&
  semanticallyEqual(slice.metadata.ownerReferences, placeholder.metadata.ownerReferences)

function emptySlice(service: Service, addressType: AddressType, ports: readonly SlicePort[]): EndpointSlice {
  const { namespace, name = '' } = service.metadata
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      generateName: generatedName(name),
      labels: sliceLabels(service),
      ownerReferences: [controllerReference(service)],
    },
    addressType,
    endpoints: [],
    ports: [...ports],
  }
}

/** The Service's labels and those that identify a slice. */
function sliceLabels(service: Service): Record<string, string> {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {}
  return {
    ...labels,
    ...(isHeadless(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name ?? '',
    [managedByLabel]: sliceManager,
  }
}

function slicePortsOf({ spec }: Service, pod: Pod): SlicePort[] {
  return (spec?.ports ?? []).flatMap((port) => {
    const number = targetPortOf(pod, port)
    const { name = '', protocol, appProtocol } = port
    return number === undefined
      ? []
      : [{ name, port: number, ...(protocol && { protocol }), ...(appProtocol && { appProtocol }) }]
  })
}

/** A terminating pod still serves while it is ready. */
function endpointOf(pod: Pod, node: Node | undefined, service: Service, addressType: AddressType): Endpoint {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata
  const serving = isReady(pod)
  const terminating = deletionTimestamp !== undefined
  const zone = node?.metadata.labels?.[zoneLabel]
  const hostname = hostnameIn(pod, service)
  return {
    addresses: addressesOf(pod, addressType === 'IPv6'),
    conditions: {
      ready: Boolean(service.spec?.publishNotReadyAddresses) || (serving && !terminating),
      serving,
      terminating,
    },
    ...(hostname && { hostname }),
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(zone && { zone }),
  }
}
