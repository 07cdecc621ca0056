/** Names of kube-proxy's chains in iptables, as upstream computes them: people and programs look for these. */
import { hash as digestOf } from 'node:crypto'
import { base32 } from '../../../../../lib/encoding/base32.ts'
import { type Endpoint, endpointText } from '../../../picture/endpoint.ts'
import { portText, type ServicePort } from '../../../picture/service-port.ts'

/** The chains of a port of a Service. */
export interface PortChains {
  /** Selects one of the endpoints that the policy `Cluster` allows. */
  readonly cluster: string
  /** Selects one of the endpoints that the policy `Local` allows. */
  readonly local: string
  /** Handles connections from outside: node ports, external IPs, and load balancers. */
  readonly external: string
  /** Allows only the source ranges of the load balancer. */
  readonly firewall: string
}

const hashLength = 16
const ofPorts = /^KUBE-(?:SVC|SVL|EXT|FW|SEP|XLB)-/

/** @example portChains(port).cluster // KUBE-SVC-NPX46M4PTMTKRN6Y for default/kubernetes:https */
export function portChains(port: ServicePort): PortChains {
  const hash = base32Hash(portText(port) + port.protocol.toLowerCase())
  return {
    cluster: `KUBE-SVC-${hash}`,
    local: `KUBE-SVL-${hash}`,
    external: `KUBE-EXT-${hash}`,
    firewall: `KUBE-FW-${hash}`,
  }
}

/** The chain that sends connections for a port to one of its endpoints. */
export const endpointChain = (port: ServicePort, endpoint: Endpoint): string =>
  `KUBE-SEP-${base32Hash(portText(port) + port.protocol.toLowerCase() + endpointText(endpoint))}`

/** True for chains of ports and endpoints, also of older versions (`KUBE-XLB-`): those that a sync may remove. */
export const isChainOfPort = (chain: string): boolean => ofPorts.test(chain)

/** The first 16 characters of the SHA-256 hash in base 32: names of chains have at most 28 characters. */
const base32Hash = (text: string): string => base32(digestOf('sha256', text, 'buffer')).slice(0, hashLength)
