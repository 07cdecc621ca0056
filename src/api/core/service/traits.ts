/** Properties of Services by type, for allocation, preparation and validation. */

interface ServiceLike {
  readonly type?: string
  readonly externalIPs?: readonly string[]
  readonly externalTrafficPolicy?: string
  readonly allocateLoadBalancerNodePorts?: boolean
}

export const needsClusterIP = ({ type }: ServiceLike): boolean => type !== 'ExternalName'

export const needsNodePorts = ({ type, allocateLoadBalancerNodePorts: allocate }: ServiceLike): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocate !== false)

/** Load balancers that send traffic only to nodes with pods check these nodes on a separate port. */
export const needsHealthCheckPort = ({ type, externalTrafficPolicy }: ServiceLike): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

export const isExternallyAccessible = ({ type, externalIPs }: ServiceLike): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (externalIPs?.length ?? 0) > 0)
