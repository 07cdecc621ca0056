/** Names of kube-proxy's chains in iptables, as upstream computes them: people and programs look for these. */
import { hash as digestOf } from 'node:crypto'
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

/** RFC 4648. */
const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
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
function base32Hash(text: string): string {
  const bytes = digestOf('sha256', text, 'buffer')
  let bits = 0
  let value = 0
  let result = ''
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      result += base32Digits[(value >> bits) & 31]
      if (result.length === hashLength) return result
    }
    value &= (1 << bits) - 1
  }
  return result
}
