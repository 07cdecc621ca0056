/** Transforms of informers: Services and EndpointSlices with the fields that kube-proxy reads, and no others. */
import type { EndpointSlice, Node, Service } from '../../../client/kinds.ts'

/** When the change happened that an EndpointSlice shows. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

const proxyNameLabel = 'service.kubernetes.io/service-proxy-name'
const serviceNameLabel = 'kubernetes.io/service-name'
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'

type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number]
type Conditions = NonNullable<SliceEndpoint['conditions']>

/** Returns a Service without the fields that no proxy reads. */
export function trimmedService({ apiVersion, kind, metadata, spec = {}, status }: Service): Service {
  const ingress = status?.loadBalancer?.ingress
  return {
    apiVersion,
    kind,
    metadata: trimmedMetadata(metadata, proxyNameLabel, sourceRangesAnnotation),
    spec: {
      type: spec.type,
      clusterIP: spec.clusterIP,
      clusterIPs: spec.clusterIPs,
      externalIPs: spec.externalIPs,
      ports: spec.ports?.map(({ name, protocol, port, nodePort }) => ({ name, protocol, port, nodePort })),
      sessionAffinity: spec.sessionAffinity,
      sessionAffinityConfig: spec.sessionAffinityConfig,
      externalTrafficPolicy: spec.externalTrafficPolicy,
      internalTrafficPolicy: spec.internalTrafficPolicy,
      healthCheckNodePort: spec.healthCheckNodePort,
      loadBalancerSourceRanges: spec.loadBalancerSourceRanges,
    },
    ...(ingress && { status: { loadBalancer: { ingress } } }),
  }
}

/** Returns an EndpointSlice without the fields that no proxy reads. Equal parts of endpoints are shared. */
export function trimmedSlice({
  apiVersion,
  kind,
  metadata,
  addressType,
  ports,
  endpoints,
}: EndpointSlice): EndpointSlice {
  return {
    apiVersion,
    kind,
    metadata: trimmedMetadata(metadata, serviceNameLabel, triggerTimeAnnotation),
    addressType,
    ports: ports?.map(({ name, protocol, port }) => ({ name, protocol, port })),
    endpoints: endpoints?.map(trimmedEndpoint),
  }
}

/** Returns a Node without the fields that no proxy reads. */
export function trimmedNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { name, resourceVersion, deletionTimestamp, labels } = metadata
  return {
    apiVersion,
    kind,
    metadata: { name, resourceVersion, deletionTimestamp, labels },
    spec: { podCIDR: spec?.podCIDR, podCIDRs: spec?.podCIDRs, taints: spec?.taints },
    status: { addresses: status?.addresses },
  }
}

function trimmedEndpoint({ addresses, conditions, nodeName, hints }: SliceEndpoint): SliceEndpoint {
  return {
    // All addresses of an endpoint are the same; upstream uses the first.
    addresses: addresses.slice(0, 1),
    conditions: conditions && sharedConditions(conditions),
    nodeName: nodeName && sharedName(nodeName),
    ...(hints && { hints }),
  }
}

const conditionsByText = new Map<string, Conditions>()

/** There are at most 27 of them. */
function sharedConditions({ ready, serving, terminating }: Conditions): Conditions {
  const key = `${ready} ${serving} ${terminating}`
  const known = conditionsByText.get(key) ?? { ready, serving, terminating }
  conditionsByText.set(key, known)
  return known
}

const maxNames = 10_000
const names = new Map<string, string>()

function sharedName(name: string): string {
  if (names.size > maxNames) names.clear()
  const known = names.get(name) ?? name
  names.set(name, known)
  return known
}

function trimmedMetadata(
  { namespace, name, resourceVersion, labels, annotations }: Service['metadata'],
  label: string,
  annotation: string,
): Service['metadata'] {
  const [labelValue, annotationValue] = [labels?.[label], annotations?.[annotation]]
  return {
    namespace,
    name,
    resourceVersion,
    ...(labelValue !== undefined && { labels: { [label]: labelValue } }),
    ...(annotationValue !== undefined && { annotations: { [annotation]: annotationValue } }),
  }
}
