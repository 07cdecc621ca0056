/** The device `flannel0` with a route to the network of all nodes, and the thread that carries its packets. */
import { withHostNetwork } from '../../../netlink/host-network.ts'
import type { LeaseChange } from '../../subnets/lease-table.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'
import { IgnoredLeases } from '../ignored-leases.ts'
import { routeNetwork } from '../routes/network-route.ts'
import { configureDevice, deviceAddress } from '../vxlan/vxlan-device.ts'
import type { Peer } from './carrier-messages.ts'
import { PacketCarrier } from './packet-carrier.ts'

const device = 'flannel0'
/** IPv4 20 and UDP 8, in bytes. */
const overhead = 28
const type = 'udp'

export class UdpNetwork implements BackendNetwork {
  readonly lease: Lease & { readonly subnet: string }
  readonly mtu: number
  readonly #context: BackendContext
  readonly #port: number
  readonly #ignored: IgnoredLeases
  #carrier: PacketCarrier
  #peers: readonly Peer[] = []

  /** @throws an Error with a sentence if the device or the port is not available. */
  constructor(context: BackendContext, port: number, lease: Lease & { readonly subnet: string }) {
    this.#context = context
    this.#port = port
    this.lease = lease
    this.mtu = context.external.mtu - overhead
    this.#ignored = new IgnoredLeases(type, context.log)
    this.#carrier = this.#startCarrier()
    this.#configure()
  }

  apply({ leases }: LeaseChange): void {
    this.#peers = this.#peersOf(leases)
    this.#carrier.setPeers(this.#peers)
    this.#configure()
  }

  async restore(): Promise<void> {
    const isPresent = withHostNetwork(this.#context.calls, undefined, ({ links }) => links.find(device) !== undefined)
    if (!isPresent || this.#carrier.hasEnded) {
      this.#context.log(`udp: ${isPresent ? 'the thread has ended' : `${device} was removed`}; starting again`)
      await this.#carrier.stop()
      this.#carrier = this.#startCarrier()
      this.#carrier.setPeers(this.#peers)
    }
    this.#configure()
  }

  async stop(): Promise<void> {
    await this.#carrier.stop()
  }

  #startCarrier(): PacketCarrier {
    const { external, log } = this.#context
    return new PacketCarrier({
      device,
      address: external.address ?? '',
      port: this.#port,
      mtu: this.mtu,
      log,
    })
  }

  /** Upstream's nodes publish no type. */
  #peersOf(leases: readonly Lease[]): Peer[] {
    const typed = this.#ignored.filter(leases.filter(({ attributes }) => attributes.backendType !== ''))
    const usable = [...leases.filter(({ attributes }) => attributes.backendType === ''), ...typed]
    return usable.flatMap(({ node, subnet, attributes: { publicIP } }) => {
      if (subnet !== undefined && publicIP !== undefined) return [{ subnet, address: publicIP, port: this.#port }]
      this.#context.log(`udp: the node ${node} has no ${subnet === undefined ? 'IPv4 subnet' : 'IPv4 address'}`)
      return []
    })
  }

  /** Gives the device its address, size and route, and enables it. */
  #configure(): void {
    const { calls, config } = this.#context
    const { network = '' } = config
    withHostNetwork(calls, undefined, (host) => {
      const link = host.links.find(device)
      if (!link) throw new Error(`${device} was removed: it is created again in a moment`)
      if (link.mtu !== this.mtu) host.links.change(link, { mtu: this.mtu })
      configureDevice(host, link, { address: deviceAddress(this.lease.subnet), network })
      routeNetwork(host, link, network)
    })
  }
}
