/** Peers of WireGuard's devices, from the leases of other nodes. */
import { isIPv4 } from 'node:net'
import { rangeHas } from '../../../../lib/cidr.ts'
import { parseKey } from '../../../netlink/wireguard/keys.ts'
import type { WireguardPeer } from '../../../netlink/wireguard/wireguard-device.ts'
import type { ExternalInterface } from '../../interface/external-interface.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { WireguardConfig } from './wireguard-config.ts'

/** Peers of the device of IPv4, or of both families, and of that of IPv6. */
export interface DevicePeers {
  readonly main: readonly WireguardPeer[]
  readonly ipv6: readonly WireguardPeer[]
}

interface NodeData {
  readonly key: Buffer
  readonly port: number | undefined
}

type Family = 4 | 6

const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

/** Calls `fail` with a sentence for a node whose data cannot be used. */
export function devicePeers(
  leases: readonly Lease[],
  config: WireguardConfig,
  external: ExternalInterface,
  fail: (message: string) => void,
): DevicePeers {
  const peerOf = (lease: Lease, family: Family, ranges: readonly string[], data: unknown): WireguardPeer[] => {
    const found = peerAt(lease, family, ranges, data, config)
    if (typeof found === 'object') return [found]
    fail(`the lease ${ranges[0]} of the node ${lease.node} has no ${found}: restart flannel on that node`)
    return []
  }
  if (config.mode !== 'separate') {
    const main = leases.flatMap((lease) => {
      const { subnet, ipv6Subnet, attributes } = lease
      const ranges = [subnet, ipv6Subnet].filter((range) => range !== undefined)
      const data = attributes.backendV6Data ?? attributes.backendData
      return peerOf(lease, endpointFamily(config, attributes, external), ranges, data)
    })
    return { main, ipv6: [] }
  }
  return {
    main: leases.flatMap((lease) =>
      lease.subnet === undefined ? [] : peerOf(lease, 4, [lease.subnet], lease.attributes.backendData),
    ),
    ipv6: leases.flatMap((lease) =>
      lease.ipv6Subnet === undefined ? [] : peerOf(lease, 6, [lease.ipv6Subnet], lease.attributes.backendV6Data),
    ),
  }
}

/** The peer with the key of the data, or what the lease lacks. */
function peerAt(
  { attributes }: Lease,
  family: Family,
  allowedIPs: readonly string[],
  data: unknown,
  config: WireguardConfig,
): WireguardPeer | 'address' | 'PublicKey' {
  const publicKey = dataOf(data)?.key
  const address = family === 4 ? attributes.publicIP : attributes.publicIPv6
  if (!publicKey) return 'PublicKey'
  if (address === undefined) return 'address'
  const ownData = family === 4 ? attributes.backendData : attributes.backendV6Data
  const port = dataOf(ownData)?.port ?? portOf(config, family)
  const { presharedKey, keepaliveSeconds } = config
  return { publicKey, presharedKey, endpoint: { address, port }, keepaliveSeconds, allowedIPs }
}

/** The port on which this node listens for a family, and others if their leases do not name one. */
export const portOf = ({ mode, listenPort, listenPortV6 }: WireguardConfig, family: Family): number =>
  family === 6 && mode === 'separate' ? listenPortV6 : listenPort

/** As upstream: the family by which a connection is likely. */
function endpointFamily(
  { mode }: WireguardConfig,
  { publicIP, publicIPv6 }: Lease['attributes'],
  external: ExternalInterface,
): Family {
  if (mode === 'ipv4') return 4
  if (mode === 'ipv6') return 6
  if (publicIPv6 === undefined) return 4
  if (publicIP === undefined) return 6
  if (!isPrivate(publicIP) && external.publicIP !== undefined) return 4
  const isReachable = external.publicIPv6 !== undefined && !isPrivate(external.publicIPv6)
  return !isPrivate(publicIPv6) && isReachable ? 6 : 4
}

const isPrivate = (address: string): boolean =>
  privateRanges.some((range) => isIPv4(range.split('/')[0]!) === isIPv4(address) && rangeHas(range, address))

/** `{"PublicKey":"…","Port":51820}`. Older nodes publish no port. */
function dataOf(data: unknown): NodeData | undefined {
  if (typeof data !== 'object' || data === null || !('PublicKey' in data)) return undefined
  const key = typeof data.PublicKey === 'string' ? parseKey(data.PublicKey) : undefined
  const port = 'Port' in data && typeof data.Port === 'number' && data.Port > 0 ? data.Port : undefined
  return key && { key, port }
}
