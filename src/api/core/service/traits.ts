/** What a Service of a kind has and another has not; allocation, preparation and validation ask the same questions. */

interface ServiceLike {
  readonly type?: string
  readonly externalIPs?: readonly string[]
  readonly externalTrafficPolicy?: string
  readonly allocateLoadBalancerNodePorts?: boolean
}

export const needsClusterIP = ({ type }: ServiceLike): boolean => type !== 'ExternalName'

export const needsNodePorts = ({ type, allocateLoadBalancerNodePorts: allocate }: ServiceLike): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocate !== false)

/** Load balancers that send traffic only to nodes with pods ask nodes on a port of their own. */
export const needsHealthCheckPort = ({ type, externalTrafficPolicy }: ServiceLike): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

export const isExternallyAccessible = ({ type, externalIPs }: ServiceLike): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (externalIPs?.length ?? 0) > 0)
