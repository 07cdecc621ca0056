/** `net-conf.json` of a cluster: the backend and the ranges of its pods, as one text that all nodes read. */
import { addressAt, parseCidr, rangeHas } from '../../lib/cidr.ts'
import {
  type BackendSettings,
  type NetworkConfig,
  parseNetworkConfig,
} from '../../network/flannel/config/network-config.ts'

/** The network that a cluster should have. */
export interface NetworkPlan {
  /** The backend of a flag: `vxlan`. Undefined: the stored one, or `usual` for a new cluster. */
  readonly backend: string | undefined
  readonly usual: BackendSettings
  /** The ranges of all pods, one of each family. */
  readonly ranges: readonly string[]
}

/** For nodes that may be behind routers: those on one link get routes, others a tunnel. */
export const tunnelBackend: BackendSettings = { Type: 'vxlan', DirectRouting: true }
/** For nodes that are on one link. */
export const routeBackend: BackendSettings = { Type: 'host-gw' }

/** The ranges of the families of which a node has an address: without one, no other node reaches its pods. */
export const reachableRanges = (ranges: readonly string[], addresses: readonly string[]): readonly string[] =>
  ranges.filter((range) => addresses.some((address) => address.includes(':') === range.includes(':')))

/** The text for a new cluster. */
export function netConf(backend: BackendSettings, ranges: readonly string[]): string {
  return textOf({ ...networksOf(ranges), EnableNFTables: true, Backend: backend })
}

/**
 * The text after a start of the cluster. A stored one stays as administrators wrote it, but for another backend of the
 * flag, and for ranges of pods that it does not have.
 * @throws an Error that names what is wrong in the stored text.
 */
export function settledNetConf(stored: string | undefined, { backend, usual, ranges }: NetworkPlan): string {
  const wanted = backend === undefined ? usual : { Type: backend }
  if (stored === undefined) return netConf(wanted, ranges)
  const config = parseNetworkConfig(stored)
  const changed = {
    ...(hasRanges(config, ranges) ? {} : networksOf(ranges)),
    ...((backend ?? config.backendType) === config.backendType ? {} : { Backend: wanted }),
  }
  if (Object.keys(changed).length === 0) return stored
  const fields: BackendSettings = JSON.parse(stored)
  const replaced = new Set(Object.keys(changed).map((name) => name.toLowerCase()))
  const others = Object.entries(fields).filter(([name]) => !replaced.has(name.toLowerCase()))
  return textOf({ ...Object.fromEntries(others), ...changed })
}

/** The fields of both families: the first range of each. */
function networksOf(ranges: readonly string[]): BackendSettings {
  const [ipv4, ipv6] = [false, true].map((isIPv6) => ranges.find((range) => range.includes(':') === isIPv6))
  return {
    EnableIPv4: ipv4 !== undefined,
    ...(ipv4 && { Network: ipv4 }),
    EnableIPv6: ipv6 !== undefined,
    ...(ipv6 && { IPv6Network: ipv6 }),
  }
}

/** True if the networks have the same families as the ranges, and contain them. */
function hasRanges({ network, ipv6Network }: NetworkConfig, ranges: readonly string[]): boolean {
  const networks = [network, ipv6Network].filter((one) => one !== undefined)
  return (
    networks.every((one) => ranges.some((range) => isPart(one, range))) &&
    ranges.every((range) => networks.some((one) => isPart(one, range)))
  )
}

function isPart(network: string, range: string): boolean {
  const [outer, inner] = [parseCidr(network), parseCidr(range)]
  return (
    outer !== undefined &&
    inner?.family === outer.family &&
    outer.prefix <= inner.prefix &&
    rangeHas(network, addressAt(inner, 0))
  )
}

const textOf = (fields: BackendSettings): string => `${JSON.stringify(fields, undefined, 2)}\n`
