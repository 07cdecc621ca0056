/** Routes to the subnets of nodes on a common link. Nodes behind a router are reported, once for each way. */
import { messageOf } from '../../../../lib/message-of.ts'
import { type HostNetwork, withHostNetwork } from '../../../netlink/host-network.ts'
import type { LeaseChange } from '../../subnets/lease-table.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import type { BackendContext, BackendNetwork } from '../backend.ts'
import { IgnoredLeases } from '../ignored-leases.ts'
import { ownedRoutes } from '../routes/owned-routes.ts'
import { syncRoutes, type WantedRoute } from '../routes/peer-routes.ts'

const type = 'host-gw'

export class HostGwNetwork implements BackendNetwork {
  readonly lease: Lease
  readonly #context: BackendContext
  readonly #ignored: IgnoredLeases
  #leases: readonly Lease[] = []
  /** By node and family, the reason that was reported. */
  #reported = new Map<string, string>()
  #hasSnapshot = false

  constructor(context: BackendContext, lease: Lease) {
    this.#context = context
    this.lease = lease
    this.#ignored = new IgnoredLeases(type, context.log)
  }

  get mtu(): number {
    return this.#context.external.mtu
  }

  apply({ leases }: LeaseChange): void {
    this.#leases = this.#ignored.filter(leases)
    this.#hasSnapshot = true
    this.#sync()
  }

  restore(): void {
    // Without all leases, routes to nodes that are not known yet would be removed.
    if (this.#hasSnapshot) this.#sync()
  }

  stop(): void {}

  #sync(): void {
    const { calls, config, external, log } = this.#context
    withHostNetwork(calls, undefined, (host) => {
      const links = host.links.list()
      const names = new Map(links.map(({ index, name }) => [index, name]))
      const reported = new Map<string, string>()
      const wanted = this.#leases.flatMap((lease) => this.#routesTo(lease, host, names, reported))
      this.#reported = reported
      for (const line of syncRoutes(host, wanted, ownedRoutes(config, links, external.name))) log(`host-gw: ${line}`)
    })
  }

  #routesTo(
    lease: Lease,
    host: HostNetwork,
    names: ReadonlyMap<number, string>,
    reported: Map<string, string>,
  ): WantedRoute[] {
    const { publicIP, publicIPv6 } = lease.attributes
    const pairs = [
      [lease.subnet, publicIP],
      [lease.ipv6Subnet, publicIPv6],
    ] as const
    return pairs.flatMap(([destination, gateway]) => {
      if (destination === undefined || gateway === undefined) return []
      const way = directLink(host, gateway)
      if (typeof way === 'number') return [{ destination, gateway, link: way, device: names.get(way) ?? '' }]
      const key = `${lease.node} ${gateway}`
      if (this.#reported.get(key) !== way) this.#report(lease, gateway, way)
      reported.set(key, way)
      return []
    })
  }

  #report(lease: Lease, gateway: string, reason: string): void {
    const message =
      `host-gw cannot reach the pods of the node ${lease.node} (${gateway}): ${reason}. host-gw needs all nodes on ` +
      'one link: connect them, or use the backend vxlan with DirectRouting'
    this.#context.log(message)
    this.#context.subnets.recordEvent('FlannelNoCommonLink', message)
  }
}

/** The index of the interface on whose link the address is, or the reason why there is none. */
function directLink({ routes }: HostNetwork, address: string): number | string {
  try {
    const { gateway, link } = routes.lookUp(address)
    return gateway === undefined ? link : `it is behind the router ${gateway}`
  } catch (error) {
    return messageOf(error)
  }
}
