/** Keeps the ARP (or NDP) and FDB entries of a `flannel.VNI` equal to the other nodes, and removes those of others. */
import { ignoreErrors } from '../../../../lib/linux/c-library.ts'
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import type { Neighbor } from '../../../netlink/neighbors.ts'
import { Attempts } from '../attempts.ts'
import type { VxlanPeer } from './vxlan-peer.ts'

const broadcastMac = '00:00:00:00:00:00'

/**
 * Entries that are right are not touched. Returns what was done, in words.
 * @throws an Error with the reason of each entry that failed; the others are in effect.
 */
export function syncPeerEntries(
  { neighbors }: Pick<HostNetwork, 'neighbors'>,
  device: Link,
  peers: readonly VxlanPeer[],
): string[] {
  const attempts = new Attempts()
  const link = device.index
  const forwarding = neighbors.listForwarding(device)
  const hosts = new Map(peers.map(({ mac, host }) => [mac, host]))
  for (const entry of forwarding)
    if (isStale(entry) && hosts.get(entry.mac) !== entry.ip)
      attempts.make(`no FDB entry ${entry.mac} dst ${entry.ip}`, () =>
        ignoreMissing(() => neighbors.removeForwarding(device, entry)),
      )
  const forwarded = keysOf(forwarding)
  for (const { mac, host: ip } of peers)
    if (!forwarded.has(`${mac} ${ip}`))
      attempts.make(`FDB entry ${mac} dst ${ip}`, () => neighbors.setForwarding(device, { link, ip, mac }))
  const known = neighbors.list(device)
  const resolved = keysOf(known)
  for (const { gateway: ip, mac } of peers)
    if (!resolved.has(`${mac} ${ip}`))
      attempts.make(`ARP entry ${ip} at ${mac}`, () => neighbors.set(device, { link, ip, mac }))
  const gateways = new Set(peers.map(({ gateway }) => gateway))
  for (const entry of known)
    if (entry.isPermanent && !gateways.has(entry.ip))
      attempts.make(`no ARP entry ${entry.ip} at ${entry.mac}`, () =>
        ignoreMissing(() => neighbors.remove(device, entry)),
      )
  return attempts.finish()
}

/** Permanent entries, as `MAC IP`. */
const keysOf = (entries: readonly Neighbor[]): ReadonlySet<string> =>
  new Set(entries.flatMap(({ mac, ip, isPermanent }) => (isPermanent ? [`${mac} ${ip}`] : [])))

/** Entries that the device has learned, and those for unknown addresses, are not of flannel. */
const isStale = ({ mac, isPermanent }: Neighbor): boolean => isPermanent && mac !== broadcastMac

function ignoreMissing(remove: () => void): void {
  try {
    remove()
  } catch (error) {
    ignoreErrors(error, 'ENOENT')
  }
}
