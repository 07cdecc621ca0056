/** The interface `flannel.ipip`, and a route by it to each other node's subnet. */
import { errorCode } from '../../../../lib/explained-error.ts'
import { type HostNetwork, withHostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import type { LeaseChange } from '../../subnets/lease-table.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'
import { IgnoredLeases } from '../ignored-leases.ts'
import { ownedRoutes } from '../routes/owned-routes.ts'
import { syncRoutes, type WantedRoute } from '../routes/peer-routes.ts'
import { configureDevice, deviceAddress } from '../vxlan/vxlan-device.ts'
import { ensureIpipLink, overhead } from './ipip-link.ts'

export const ipipType = 'ipip'

export interface IpipSettings {
  /** True: packets to nodes on a common link are not encapsulated. */
  readonly directRouting: boolean
  /** This node's address. */
  readonly local: string
  readonly lease: Lease & { readonly subnet: string }
}

export class IpipNetwork implements BackendNetwork {
  readonly lease: Lease & { readonly subnet: string }
  readonly mtu: number
  readonly #context: BackendContext
  readonly #settings: IpipSettings
  readonly #ignored: IgnoredLeases
  #leases: readonly Lease[] | undefined

  constructor(context: BackendContext, settings: IpipSettings) {
    this.#context = context
    this.#settings = settings
    this.#ignored = new IgnoredLeases(ipipType, context.log)
    this.lease = settings.lease
    this.mtu = context.external.mtu - overhead
  }

  apply({ leases }: LeaseChange): void {
    this.#leases = this.#ignored.filter(leases)
    this.restore()
  }

  restore(): void {
    const { calls, config, external, log } = this.#context
    const { network = '' } = config
    withHostNetwork(calls, undefined, (host) => {
      const device = ensureIpipLink(host, { local: this.#settings.local, mtu: this.mtu, log })
      configureDevice(host, device, { address: deviceAddress(this.lease.subnet), network })
      // Without all leases, routes to nodes that are not known yet would be removed.
      if (!this.#leases) return
      const links = host.links.list()
      const wanted = this.#leases.flatMap((lease) => this.#routeTo(lease, device, host, links))
      for (const line of syncRoutes(host, wanted, ownedRoutes(config, links, external.name))) log(`ipip: ${line}`)
    })
  }

  stop(): void {}

  #routeTo(
    { node, subnet, attributes }: Lease,
    device: Link,
    host: HostNetwork,
    links: readonly Link[],
  ): WantedRoute[] {
    const gateway = attributes.publicIP
    if (subnet === undefined || gateway === undefined) {
      this.#context.log(`ipip: the node ${node} has no ${subnet === undefined ? 'IPv4 subnet' : 'IPv4 address'}`)
      return []
    }
    const direct = this.#settings.directRouting ? directLink(host, gateway) : undefined
    const link = links.find(({ index }) => index === direct) ?? device
    return [{ destination: subnet, gateway, link: link.index, isOnlink: true, device: link.name }]
  }
}

/** The index of the interface on whose link the address is; undefined if it is behind a router. */
function directLink({ routes }: HostNetwork, address: string): number | undefined {
  try {
    const { gateway, link } = routes.lookUp(address)
    return gateway === undefined ? link : undefined
  } catch (error) {
    // Without a route now: packets are encapsulated as soon as there is one.
    if (errorCode(error) === 'ENETUNREACH' || errorCode(error) === 'EHOSTUNREACH') return undefined
    throw error
  }
}
