/** Keeps the ARP (or NDP) and FDB entries of a `flannel.VNI` equal to the other nodes, and removes those of others. */
import { ignoreErrors } from '../../../../lib/linux/c-library.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import type { Neighbor } from '../../../netlink/neighbors.ts'
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
  const done: string[] = []
  const failures: string[] = []
  const attempt = (what: string, change: () => void): void => {
    try {
      change()
      done.push(what)
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  const link = device.index
  const forwarding = neighbors.listForwarding(device)
  const wantedHosts = new Map(peers.map(({ mac, host }) => [mac, host]))
  for (const entry of forwarding)
    if (isStale(entry) && wantedHosts.get(entry.mac) !== entry.ip)
      attempt(`no FDB entry ${entry.mac} dst ${entry.ip}`, () =>
        ignoreMissing(() => neighbors.removeForwarding(device, entry)),
      )
  for (const { mac, host } of peers)
    if (!forwarding.some((entry) => entry.mac === mac && entry.ip === host && entry.isPermanent))
      attempt(`FDB entry ${mac} dst ${host}`, () => neighbors.setForwarding(device, { link, ip: host, mac }))
  const known = neighbors.list(device)
  for (const { gateway: ip, mac } of peers)
    if (!known.some((entry) => entry.ip === ip && entry.mac === mac && entry.isPermanent))
      attempt(`ARP entry ${ip} at ${mac}`, () => neighbors.set(device, { link, ip, mac }))
  const wantedGateways = new Set(peers.map(({ gateway }) => gateway))
  for (const entry of known)
    if (entry.isPermanent && !wantedGateways.has(entry.ip))
      attempt(`no ARP entry ${entry.ip} at ${entry.mac}`, () => ignoreMissing(() => neighbors.remove(device, entry)))
  if (failures.length > 0) throw new Error(failures.join('; '))
  return done
}

/** Entries that the device has learned, and those for unknown addresses, are not of flannel. */
const isStale = ({ mac, isPermanent }: Neighbor): boolean => isPermanent && mac !== broadcastMac

function ignoreMissing(remove: () => void): void {
  try {
    remove()
  } catch (error) {
    ignoreErrors(error, 'ENOENT')
  }
}
