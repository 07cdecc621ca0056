/** Which routes of the kernel belong to flannel: those to parts of its networks by a gateway. */
import { parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import type { Link } from '../../../netlink/links.ts'
import type { Route } from '../../../netlink/routes.ts'
import type { NetworkConfig } from '../../config/network-config.ts'

/** Names of devices that only flannel creates: `flannel.1`, `flannel-v6.1`, `flannel.ipip`. */
const devicePattern = /^flannel[.-]/

/**
 * Returns a test for routes that a backend added, in this or an earlier process, by this or another backend. Routes of
 * bridges have no gateway, and are never among them. `device` is the interface to other nodes.
 */
export function ownedRoutes(
  { network, ipv6Network }: Pick<NetworkConfig, 'network' | 'ipv6Network'>,
  links: readonly Link[],
  device: string,
): (route: Route) => boolean {
  const devices = new Set(
    links.filter(({ name }) => name === device || devicePattern.test(name)).map(({ index }) => index),
  )
  const ranges = [network, ipv6Network].filter((range) => range !== undefined)
  return ({ destination, gateway, link }) =>
    gateway !== undefined && devices.has(link) && ranges.some((range) => isPartOf(range, destination))
}

/** True if the range is larger, and has the destination. */
function isPartOf(range: string, destination: string): boolean {
  const [address = '', prefix = ''] = destination.split('/')
  return Number(prefix) > (parseCidr(range)?.prefix ?? 0) && rangeHas(range, address)
}
