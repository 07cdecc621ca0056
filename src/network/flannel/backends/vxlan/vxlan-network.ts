/** Brings the leases of other nodes into effect: a route, an ARP entry and an FDB entry for each of them. */
import { messageOf } from '../../../../lib/message-of.ts'
import { type HostNetwork, withHostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import type { LeaseChange } from '../../subnets/lease-table.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'
import { IgnoredLeases } from '../ignored-leases.ts'
import { ownedRoutes } from '../routes/owned-routes.ts'
import { syncRoutes, type WantedRoute } from '../routes/peer-routes.ts'
import { syncPeerEntries } from './peer-entries.ts'
import type { VxlanConfig } from './vxlan-config.ts'
import { configureDevice, deviceAddress, ensureDevice, type WantedDevice } from './vxlan-device.ts'
import { type VxlanPeer, vxlanPeers } from './vxlan-peer.ts'

type Devices = readonly [WantedDevice | undefined, WantedDevice | undefined]

export class VxlanNetwork implements BackendNetwork {
  readonly lease: Lease
  /** That of the family with the larger headers. */
  readonly mtu: number
  readonly #context: BackendContext
  readonly #config: VxlanConfig
  readonly #ignored: IgnoredLeases
  #devices: Devices
  #leases: readonly Lease[] = []
  #hasSnapshot = false

  constructor(context: BackendContext, config: VxlanConfig, devices: Devices, lease: Lease) {
    this.#context = context
    this.#config = config
    this.#devices = devices
    this.#ignored = new IgnoredLeases('vxlan', context.log)
    this.lease = lease
    this.mtu = Math.min(...devices.flatMap((device) => (device ? [device.mtu] : [])))
  }

  /** Gives the devices their addresses, and enables them. Creates a device that somebody removed. */
  configure(): readonly (Link | undefined)[] {
    const { calls, config, log } = this.#context
    return withHostNetwork(calls, undefined, (host) => {
      const links = this.#devices.map((device) => device && ensureDevice(host, device, log))
      const [four, six] = links
      const { subnet = '', ipv6Subnet = '' } = this.lease
      const [network = '', network6 = ''] = [config.network, config.ipv6Network]
      if (four) configureDevice(host, four, { address: deviceAddress(subnet), network })
      if (six) configureDevice(host, six, { address: deviceAddress(ipv6Subnet), network: network6 })
      // A device that is created again keeps the address that others know.
      const keepMac = (device: WantedDevice | undefined, link: Link | undefined): WantedDevice | undefined =>
        device && link && { ...device, mac: link.address }
      this.#devices = [keepMac(this.#devices[0], four), keepMac(this.#devices[1], six)]
      return links
    })
  }

  apply({ leases }: LeaseChange): void {
    this.#leases = this.#ignored.filter(leases)
    this.#hasSnapshot = true
    this.#sync()
  }

  restore(): void {
    this.configure()
    // Without all leases, entries of nodes that are not known yet would be removed.
    if (this.#hasSnapshot) this.#sync()
  }

  stop(): void {}

  #sync(): void {
    const [four, six] = this.configure()
    const { calls, config, external, log } = this.#context
    const failures: string[] = []
    withHostNetwork(calls, undefined, (host) => {
      const peers = this.#leases.flatMap((lease) => vxlanPeers(lease, (failure) => failures.push(failure)))
      const direct = new Map(peers.map((peer) => [peer, this.#directLink(host, peer)]))
      const attempt = (sync: () => readonly string[]): void => {
        try {
          for (const line of sync()) log(`vxlan: ${line}`)
        } catch (error) {
          failures.push(messageOf(error))
        }
      }
      // The kernel would ask for the MAC address of a route's gateway: entries are made before routes.
      const encapsulated = peers.filter((peer) => direct.get(peer) === undefined)
      for (const [device, family] of [[four, 4] as const, [six, 6] as const])
        if (device)
          attempt(() =>
            syncPeerEntries(
              host,
              device,
              encapsulated.filter((peer) => peer.family === family),
            ),
          )
      const links = host.links.list()
      const names = new Map(links.map(({ index, name }) => [index, name]))
      const wanted = peers.flatMap((peer) => {
        const device = peer.family === 4 ? four : six
        const link = direct.get(peer)
        return device ? [routeTo(peer, device, link, names)] : []
      })
      attempt(() => syncRoutes(host, wanted, ownedRoutes(config, links, external.name)))
    })
    if (failures.length > 0) throw new Error(failures.join('; '))
  }

  /** The index of the interface on whose link the node is, if such nodes are reached without encapsulation. */
  #directLink({ routes }: HostNetwork, { host }: VxlanPeer): number | undefined {
    if (!this.#config.directRouting) return undefined
    try {
      const { gateway, link } = routes.lookUp(host)
      return gateway === undefined ? link : undefined
    } catch {
      // Without a route now; the kernel sends encapsulated packets as soon as there is one.
      return undefined
    }
  }
}

function routeTo(
  { subnet, gateway, host }: VxlanPeer,
  device: Link,
  directLink: number | undefined,
  names: ReadonlyMap<number, string>,
): WantedRoute {
  if (directLink !== undefined)
    return { destination: subnet, gateway: host, link: directLink, device: names.get(directLink) ?? '' }
  return { destination: subnet, gateway, link: device.index, isOnlink: true, device: device.name }
}
