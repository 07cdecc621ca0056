/** `/run/flannel/subnet.env`: what the CNI plug-in, Docker, and a later flannel read about this node's network. */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { addressAt, parseCidr } from '../../../lib/cidr.ts'
import { errorCode, reasonOf } from '../../../lib/explained-error.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'

export const defaultSubnetFile = '/run/flannel/subnet.env'

export interface SubnetFile {
  /** `10.244.0.0/16`. */
  readonly network: string | undefined
  /** This node's part: `10.244.1.0/24`. In the file it is the address of the bridge: `10.244.1.1/24`. */
  readonly subnet: string | undefined
  readonly ipv6Network: string | undefined
  readonly ipv6Subnet: string | undefined
  /** In bytes. */
  readonly mtu: number
  /** True if flannel masquerades packets that leave the network. */
  readonly masquerade: boolean
}

/** Writes the file, which programs then see whole. Throws errors of the file system. */
export function writeSubnetFile(path: string, file: SubnetFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  writeFileAtomically(path, subnetFileText(file), 0o644)
}

/** The text, in upstream's order. */
export function subnetFileText({ network, subnet, ipv6Network, ipv6Subnet, mtu, masquerade }: SubnetFile): string {
  const lines = [
    ...(network && subnet ? [`FLANNEL_NETWORK=${network}`, `FLANNEL_SUBNET=${firstAddress(subnet)}`] : []),
    ...(ipv6Network && ipv6Subnet
      ? [`FLANNEL_IPV6_NETWORK=${ipv6Network}`, `FLANNEL_IPV6_SUBNET=${firstAddress(ipv6Subnet)}`]
      : []),
    `FLANNEL_MTU=${mtu}`,
    `FLANNEL_IPMASQ=${masquerade}`,
  ]
  return `${lines.join('\n')}\n`
}

/**
 * Reads a file; undefined if it does not exist.
 * @throws an Error with the names of what is missing or wrong.
 */
export function readSubnetFile(path: string): SubnetFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new Error(`cannot read ${path}: ${reasonOf(error)}`)
  }
  return parseSubnetFile(text, path)
}

/** `path` is for errors. Several networks are separated by commas; the first one counts here. */
export function parseSubnetFile(text: string, path: string): SubnetFile {
  const values = new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^\s*(?:export\s+)?([A-Z0-9_]+)=["']?(.*?)["']?\s*$/.exec(line) ?? []
      return name && value ? [[name, value] as const] : []
    }),
  )
  const range = (name: string): string | undefined => {
    const value = values.get(name)?.split(',')[0]
    if (value === undefined) return undefined
    const cidr = parseCidr(value)
    if (cidr) return `${addressAt(cidr, 0)}/${cidr.prefix}`
    throw new Error(`${path}: ${name}=${value} is not a range such as 10.244.1.1/24`)
  }
  const [network, subnet] = [range('FLANNEL_NETWORK'), range('FLANNEL_SUBNET')]
  const [ipv6Network, ipv6Subnet] = [range('FLANNEL_IPV6_NETWORK'), range('FLANNEL_IPV6_SUBNET')]
  const [mtu, masquerade] = [values.get('FLANNEL_MTU'), values.get('FLANNEL_IPMASQ')]
  const missing = [
    ...(network || ipv6Network ? [] : ['FLANNEL_NETWORK', 'FLANNEL_IPV6_NETWORK']),
    ...(subnet || ipv6Subnet ? [] : ['FLANNEL_SUBNET', 'FLANNEL_IPV6_SUBNET']),
    ...(mtu ? [] : ['FLANNEL_MTU']),
    ...(masquerade ? [] : ['FLANNEL_IPMASQ']),
  ]
  if (missing.length > 0) throw new Error(`${path} is missing ${missing.join(', ')}`)
  if (!/^\d{2,5}$/.test(mtu ?? '')) throw new Error(`${path}: FLANNEL_MTU=${mtu} is not a number of bytes`)
  return { network, subnet, ipv6Network, ipv6Subnet, mtu: Number(mtu), masquerade: masquerade === 'true' }
}

/** `10.244.1.1/24` of `10.244.1.0/24`. */
function firstAddress(subnet: string): string {
  const cidr = parseCidr(subnet)
  return cidr ? `${addressAt(cidr, 1)}/${cidr.prefix}` : subnet
}
