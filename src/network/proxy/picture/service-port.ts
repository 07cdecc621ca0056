/** Ports of Services as kube-proxy uses them: what of a Service concerns one port and one IP family. */
import { isIP } from 'node:net'
import type { Service } from '../../../client/kinds.ts'
import { parseCidr } from '../../../lib/cidr.ts'

export type IpFamily = 4 | 6
export type Protocol = 'TCP' | 'UDP' | 'SCTP'

/** A port of a Service, in one IP family. */
export interface ServicePort {
  readonly namespace: string
  readonly service: string
  /** Empty if the Service's only port has no name. */
  readonly name: string
  readonly protocol: Protocol
  readonly clusterIP: string
  readonly port: number
  /** 0: none. */
  readonly nodePort: number
  readonly externalIPs: readonly string[]
  /** Addresses of the load balancer whose packets arrive with that destination: `ipMode` is not `Proxy`. */
  readonly loadBalancerIPs: readonly string[]
  /** CIDRs of clients that may use the load balancer's addresses. Empty: all. */
  readonly loadBalancerSourceRanges: readonly string[]
  /** Seconds for which a client stays with its endpoint (`sessionAffinity: ClientIP`). Undefined: no affinity. */
  readonly affinitySeconds: number | undefined
  /** Where load balancers ask whether this node has endpoints (`externalTrafficPolicy: Local`). 0: none. */
  readonly healthCheckNodePort: number
  /** Connections from outside use only endpoints on this node. */
  readonly isExternalLocal: boolean
  /** Connections to the cluster IP use only endpoints on this node. */
  readonly isInternalLocal: boolean
}

const proxyNameLabel = 'service.kubernetes.io/service-proxy-name'
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const defaultAffinitySeconds = 10_800

/** `NAMESPACE/NAME:PORT`, or without `:PORT` if the port has no name, as in comments of rules. */
export const portText = ({ namespace, service, name }: Pick<ServicePort, 'namespace' | 'service' | 'name'>): string =>
  `${namespace}/${service}${name === '' ? '' : `:${name}`}`

/** True if connections can come from outside of the cluster. */
export const isExternallyReachable = (port: ServicePort): boolean =>
  port.nodePort !== 0 || port.loadBalancerIPs.length > 0 || port.externalIPs.length > 0

/**
 * True if any kind of connection may use endpoints of all nodes. With the external policy `Local`, these are the
 * connections of pods and of the node itself to addresses for the outside.
 */
export const usesClusterEndpoints = (port: ServicePort): boolean => !port.isInternalLocal || isExternallyReachable(port)

/** True if any kind of connection uses only endpoints of this node. */
export const usesLocalEndpoints = (port: ServicePort): boolean =>
  port.isInternalLocal || (isExternallyReachable(port) && port.isExternalLocal)

/**
 * The ports of a Service in one family. Empty for headless Services, `ExternalName`, and Services of other proxies
 * (label `service.kubernetes.io/service-proxy-name`).
 */
export function portsOfService({ metadata, spec = {}, status }: Service, family: IpFamily): ServicePort[] {
  const isOf = (address: string): boolean => isIP(address) === family
  const clusterIP = [...(spec.clusterIPs ?? []), spec.clusterIP ?? ''].find(isOf)
  if (!clusterIP || spec.type === 'ExternalName' || metadata.labels?.[proxyNameLabel] !== undefined) return []
  const ingress = status?.loadBalancer?.ingress ?? []
  const shared = {
    namespace: metadata.namespace ?? '',
    service: metadata.name ?? '',
    clusterIP,
    externalIPs: (spec.externalIPs ?? []).filter(isOf),
    loadBalancerIPs: ingress.flatMap(({ ip = '', ipMode }) => (isOf(ip) && ipMode !== 'Proxy' ? [ip] : [])),
    loadBalancerSourceRanges: sourceRanges(spec.loadBalancerSourceRanges, metadata.annotations, family),
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds)
        : undefined,
    healthCheckNodePort: spec.healthCheckNodePort ?? 0,
    isExternalLocal: spec.externalTrafficPolicy === 'Local',
    isInternalLocal: spec.internalTrafficPolicy === 'Local',
  }
  return (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port, nodePort = 0 }) => ({
    ...shared,
    name,
    protocol: protocolOf(protocol),
    port,
    nodePort,
  }))
}

/** The API server admits only these three. */
const protocolOf = (protocol: string): Protocol => (protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP')

function sourceRanges(
  ranges: readonly string[] | undefined,
  annotations: Readonly<Record<string, string>> | undefined,
  family: IpFamily,
): string[] {
  const annotated = annotations?.[sourceRangesAnnotation]?.split(',').filter((range) => range.trim() !== '')
  const all = (ranges?.length ? ranges : (annotated ?? [])).map((range) => range.trim())
  return all.filter((range) => parseCidr(range)?.family === family)
}
