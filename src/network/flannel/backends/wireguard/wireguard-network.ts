/** The interfaces of WireGuard with their addresses, routes and peers. Only differences are written. */
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../../lib/message-of.ts'
import { withHostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import { publicKeyOf } from '../../../netlink/wireguard/keys.ts'
import type { WireguardPeer } from '../../../netlink/wireguard/wireguard-device.ts'
import type { LeaseChange } from '../../subnets/lease-table.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'
import { IgnoredLeases } from '../ignored-leases.ts'
import { routeNetwork } from '../routes/network-route.ts'
import { configureDevice, deviceAddress } from '../vxlan/vxlan-device.ts'
import type { WireguardConfig } from './wireguard-config.ts'
import { ensureWireguardLink, wireguardDevice } from './wireguard-link.ts'
import { devicePeers } from './wireguard-peers.ts'

export const wireguardType = 'wireguard'

export interface TunnelSettings {
  readonly name: string
  /** The UDP port of this node. */
  readonly port: number
  /** False for that of IPv6 beside one of IPv4. */
  readonly isMain: boolean
}

export interface NetworkSettings {
  readonly privateKey: Buffer
  readonly tunnels: readonly TunnelSettings[]
  readonly mtu: number
  readonly lease: Lease
}

export class WireguardNetwork implements BackendNetwork {
  readonly lease: Lease
  readonly mtu: number
  readonly #context: BackendContext
  readonly #config: WireguardConfig
  readonly #settings: NetworkSettings
  readonly #publicKey: Buffer
  readonly #ignored: IgnoredLeases
  #leases: readonly Lease[] | undefined
  /** Peers as they were written last, by interface and key. A peer's address may change in the device: it roams. */
  readonly #written = new Map<string, WireguardPeer>()

  constructor(context: BackendContext, config: WireguardConfig, settings: NetworkSettings) {
    this.#context = context
    this.#config = config
    this.#settings = settings
    this.#publicKey = publicKeyOf(settings.privateKey)
    this.#ignored = new IgnoredLeases(wireguardType, context.log)
    this.lease = settings.lease
    this.mtu = settings.mtu
  }

  async apply({ leases }: LeaseChange): Promise<void> {
    this.#leases = this.#ignored.filter(leases)
    await this.configure()
  }

  restore(): Promise<void> {
    return this.configure()
  }

  stop(): void {}

  /** Brings interfaces into the wanted state; peers as soon as all leases are known. */
  async configure(): Promise<void> {
    const failures: string[] = []
    const { external } = this.#context
    const peers = this.#leases && devicePeers(this.#leases, this.#config, external, (failure) => failures.push(failure))
    for (const tunnel of this.#settings.tunnels)
      try {
        const link = this.#configureLink(tunnel)
        await this.#configureTunnel(tunnel, link, peers && (tunnel.isMain ? peers.main : peers.ipv6))
      } catch (error) {
        failures.push(messageOf(error))
      }
    if (failures.length > 0) throw new Error(failures.join('; '))
  }

  #configureLink({ name, isMain }: TunnelSettings): Link {
    const { calls, config } = this.#context
    const isShared = this.#config.mode !== 'separate'
    const families = [
      [isMain, this.lease.subnet, config.network],
      [!isMain || isShared, this.lease.ipv6Subnet, config.ipv6Network],
    ] as const
    return withHostNetwork(calls, undefined, (host) => {
      const link = ensureWireguardLink(host, name, this.mtu)
      for (const [isCarried, subnet, network] of families) {
        if (!isCarried || subnet === undefined || network === undefined) continue
        configureDevice(host, link, { address: deviceAddress(subnet), network })
        routeNetwork(host, link, network)
      }
      return link
    })
  }

  async #configureTunnel(
    { name, port }: TunnelSettings,
    link: Link,
    wanted: readonly WireguardPeer[] | undefined,
  ): Promise<void> {
    const device = wireguardDevice(this.#context.calls, link)
    const present = await device.read()
    const privateKey = present.publicKey?.equals(this.#publicKey) ? undefined : this.#settings.privateKey
    const listenPort = present.listenPort === port ? undefined : port
    const known = new Map(present.peers.map((peer) => [keyOf(peer), peer]))
    const hasRanges = (peer: WireguardPeer): boolean => hasSameRanges(known.get(keyOf(peer)), peer)
    const peers = (wanted ?? []).filter(
      (peer) => !hasRanges(peer) || !isDeepStrictEqual(this.#written.get(name + keyOf(peer)), peer),
    )
    const keys = new Set((wanted ?? []).map(keyOf))
    const removed = wanted ? present.peers.filter((peer) => !keys.has(keyOf(peer))) : []
    if (!privateKey && listenPort === undefined && peers.length + removed.length === 0) return
    await device.change({
      ...{ privateKey, listenPort, removed: removed.map(({ publicKey }) => publicKey) },
      // A restart of flannel must lose no packet.
      peers: peers.map((peer) => (hasRanges(peer) ? { ...peer, allowedIPs: undefined } : peer)),
    })
    for (const peer of removed) {
      this.#written.delete(name + keyOf(peer))
      this.#context.log(`wireguard: no peer ${keyOf(peer)} on ${name}`)
    }
    for (const peer of peers) {
      this.#written.set(name + keyOf(peer), peer)
      const { address, port: to } = peer.endpoint ?? { address: '', port: 0 }
      this.#context.log(`wireguard: ${peer.allowedIPs.join(' and ')} by ${address} port ${to} on ${name}`)
    }
  }
}

const keyOf = ({ publicKey }: Pick<WireguardPeer, 'publicKey'>): string => publicKey.toString('base64')

const hasSameRanges = (one: WireguardPeer | undefined, other: WireguardPeer): boolean =>
  one !== undefined && isDeepStrictEqual([...one.allowedIPs].sort(), [...other.allowedIPs].sort())
