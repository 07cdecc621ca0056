/** The chains of a port of a Service. */

import type { ProxiedPort } from '../../picture/service-picture.ts'
import { isExternallyReachable } from '../../picture/service-port.ts'
import { portName } from './names.ts'

/** Names of a port's chains. */
export interface PortChains {
  /** Chooses among the endpoints for the policy `Cluster`. */
  readonly cluster: string
  /** Chooses among the endpoints for the policy `Local`. */
  readonly local: string
  /** Connections to external addresses and node ports. */
  readonly external: string
  /** Source ranges of the load balancer. */
  readonly firewall: string
}

export function portChains(port: ProxiedPort): PortChains {
  const name = portName(port)
  return {
    cluster: `service-${name}`,
    local: `local-${name}`,
    external: `external-${name}`,
    firewall: `firewall-${name}`,
  }
}

/** Source ranges hold for addresses of load balancers only, not for node ports. */
export const usesFirewall = (port: ProxiedPort): boolean =>
  port.loadBalancerIPs.length > 0 && port.loadBalancerSourceRanges.length > 0

/** Also without endpoints for external connections: pods and this node may still use those of other nodes. */
export const usesExternalChain = (port: ProxiedPort): boolean => port.endpoints.hasAny && isExternallyReachable(port)

/** The chain for connections to the cluster IP; undefined without endpoints for them. */
export function internalChain({ endpoints, isInternalLocal }: ProxiedPort, names: PortChains): string | undefined {
  const chosen = isInternalLocal ? endpoints.local : endpoints.cluster
  return chosen.length > 0 ? (isInternalLocal ? names.local : names.cluster) : undefined
}

/** True if external connections that are neither of pods of this node nor of the node itself find an endpoint. */
export const hasExternalEndpoints = ({ endpoints, isExternalLocal }: ProxiedPort): boolean =>
  (isExternalLocal ? endpoints.local : endpoints.cluster).length > 0
