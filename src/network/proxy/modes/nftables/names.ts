/** Names of chains and sets for ports of Services and their endpoints, as upstream's kube-proxy forms them. */
import { hash as digestOf } from 'node:crypto'
import { base32 } from '../../../../lib/encoding/base32.ts'
import type { Endpoint } from '../../picture/endpoint.ts'
import type { ServicePort } from '../../picture/service-port.ts'

/** `nft` accepts names of 256 bytes; 16 are for the prefix. */
const longestName = 240

const hashLength = 8

/** Sets of clients with affinity; all other names of sets are fixed. */
export const affinityPrefix = 'affinity-'

type PortIdentity = Pick<ServicePort, 'namespace' | 'service' | 'name' | 'protocol'>

/** `HASH-NAMESPACE/SERVICE/tcp/PORT`. */
export const portName = (port: PortIdentity): string => withHash(pathOf(port))

/** `HASH-NAMESPACE/SERVICE/tcp/PORT__ADDRESS/PORT`; the colons of IPv6 addresses become dots. */
export const endpointName = (port: PortIdentity, { address, port: number }: Endpoint): string =>
  withHash(`${pathOf(port)}__${address.replaceAll(':', '.')}/${number}`)

/** The word for a protocol in rules. */
export const protocolName = ({ protocol }: Pick<ServicePort, 'protocol'>): string => protocol.toLowerCase()

const pathOf = (port: PortIdentity): string => `${port.namespace}/${port.service}/${protocolName(port)}/${port.name}`

/** The hash distinguishes names that are cut, and is easier to compare than long names. */
function withHash(name: string): string {
  const hash = base32(digestOf('sha256', name, 'buffer')).slice(0, hashLength)
  const full = `${hash}-${name}`
  return full.length > longestName ? `${full.slice(0, longestName - 3)}...` : full
}
