/**
 * The Service `default/kubernetes`, by which pods reach the API server, its endpoints, and the ServiceCIDR of its
 * address.
 */
import type { Service } from '../../../api/core/service/index.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { createObject } from '../../registry/write/create-object.ts'
import { deleteObject } from '../../registry/write/delete-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import type { AddressRange } from '../ranges/address-range.ts'

export interface KubernetesService {
  readonly services: ServedResource
  readonly endpoints: ServedResource
  readonly endpointSlices: ServedResource
  readonly serviceCidrs: ServedResource
  readonly ranges: readonly AddressRange[]
  readonly port: number
  readonly context: Writer
}

const name = 'kubernetes'
/** How often a write is tried that another server outruns. */
const maxAttempts = 3
const namespace = 'default'

/**
 * Creates the Service and the ServiceCIDR, or corrects them. Rejects with the StatusError of a failed write, as all
 * functions here do.
 */
export async function ensureKubernetesService(given: KubernetesService): Promise<void> {
  await Promise.all([ensureService(given, given.services), ensureServiceCidr(given, given.serviceCidrs)])
}

/** The addresses of its endpoints. */
export async function endpointAddresses({ endpoints, context }: KubernetesService): Promise<string[]> {
  const live = (await context.registry.newest(endpoints, endpoints.key(namespace, name)))?.parse<Unstructured>()
  const [subset] = (live?.subsets ?? []) as readonly { readonly addresses?: readonly { readonly ip: string }[] }[]
  return (subset?.addresses ?? []).map(({ ip }) => ip)
}

/** Creates its endpoints, or gives them other addresses. */
export async function ensureEndpoints(given: KubernetesService, addresses: readonly string[]): Promise<void> {
  const { endpoints, endpointSlices, ranges, port } = given
  const ports = [{ name: 'https', port, protocol: 'TCP' }]
  await Promise.all([
    ensure(given, endpoints, namespace, {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: addresses.length > 0 ? [{ addresses: addresses.map((ip) => ({ ip })), ports }] : [],
    }),
    ensure(given, endpointSlices, namespace, {
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: ranges[0]!.family,
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports,
    }),
  ])
}

async function ensureService(given: KubernetesService, services: ServedResource): Promise<void> {
  const { registry } = given.context
  const range = given.ranges[0]!
  const live = (await registry.newest(services, services.key(namespace, name)))?.parse<Service>()
  // The cluster IP is immutable: a cluster with another range needs a new Service.
  if (live && live.spec?.clusterIP !== range.firstAddress) {
    await deleteObject({ ...given.context, resource: services, namespace, name, subresource: '' }, { dryRun: false })
  }
  await ensure(given, services, namespace, {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: range.firstAddress,
      clusterIPs: [range.firstAddress],
      ipFamilies: [range.family],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: given.port }],
    },
  })
}

/** Ensures the ServiceCIDR of the ranges, with the condition Ready; a changed range needs a new object. */
async function ensureServiceCidr(given: KubernetesService, serviceCidrs: ServedResource): Promise<void> {
  const { registry } = given.context
  const cidrs = given.ranges.map(({ text }) => text)
  const live = (await registry.newest(serviceCidrs, serviceCidrs.key('', name)))?.parse<Unstructured>()
  const place = { ...given.context, resource: serviceCidrs, namespace: '', name }
  if (live) {
    if (semanticallyEqual((live.spec as { cidrs?: unknown } | undefined)?.cidrs, cidrs)) return
    // Finalizers need not wait for the addresses of a range that is no longer used.
    if (live.metadata.finalizers?.length) {
      const released = ({ metadata, ...object }: KubeObject): KubeObject =>
        ({ ...object, metadata: { ...metadata, finalizers: [] } }) as KubeObject
      await updateObject(
        { ...place, subresource: '' },
        { startsFromLive: true, change: (object) => ({ object: released(object!) }) },
      )
    }
    if (!live.metadata.deletionTimestamp) await deleteObject({ ...place, subresource: '' }, { dryRun: false })
  }
  await ensure(given, serviceCidrs, '', {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name },
    spec: { cidrs },
  })
  const conditions = [
    {
      type: 'Ready',
      status: 'True',
      lastTransitionTime: place.now(),
      reason: '',
      message: 'Kubernetes default Service CIDR is ready',
    },
  ]
  await updateObject(
    { ...place, subresource: 'status' },
    { startsFromLive: true, change: (object) => ({ object: { ...object!, status: { conditions } } }) },
  )
}

/** Creates the object, or sets its fields and labels, also if another server does the same at this moment. */
async function ensure(
  given: KubernetesService,
  resource: ServedResource,
  namespace: string,
  wanted: Unstructured,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ensureOnce(given, resource, namespace, wanted)
    } catch (error) {
      if (!(error instanceof StatusError) || attempt === maxAttempts) throw error
    }
  }
}

async function ensureOnce(
  { context }: KubernetesService,
  resource: ServedResource,
  namespace: string,
  wanted: Unstructured,
): Promise<void> {
  const { metadata, kind: _kind, apiVersion: _apiVersion, ...fields } = wanted
  const place = { ...context, resource, namespace, name, subresource: '' }
  const live = (await context.registry.newest(resource, resource.key(namespace, name)))?.parse<Unstructured>()
  if (!live) {
    const object = structuredClone(wanted)
    resource.applyDefaults(object)
    await createObject(place, object)
    return
  }
  if (Object.entries(fields).every(([field, value]) => semanticallyEqual(live[field], value))) return
  await updateObject(place, {
    startsFromLive: true,
    change: (object) => ({
      object: {
        ...object!,
        ...structuredClone(fields),
        metadata: { ...object!.metadata, labels: { ...object!.metadata.labels, ...metadata.labels } },
      },
    }),
  })
}
