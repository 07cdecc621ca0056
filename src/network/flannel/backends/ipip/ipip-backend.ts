/** The backend ipip: packets to pods of other nodes travel in IP packets of the protocol 4 (RFC 2003). */
import { withHostNetwork } from '../../../netlink/host-network.ts'
import { booleanOf } from '../../config/network-config.ts'
import type { Backend } from '../backend.ts'
import { ensureIpipLink, overhead } from './ipip-link.ts'
import { IpipNetwork, ipipType } from './ipip-network.ts'

export const ipipBackend: Backend = {
  type: ipipType,
  async register(context) {
    const { config, external, subnets, calls, signal, log } = context
    const directRouting = booleanOf(config.backend, 'DirectRouting') ?? false
    if (!config.enableIPv4 || external.address === undefined)
      throw new Error('the backend ipip carries IPv4 only: set EnableIPv4 to true, or use the backend vxlan')
    if (config.enableIPv6) log('the backend ipip carries IPv4 only: pods of other nodes have no IPv6 address to reach')
    if (external.mtu <= overhead)
      throw new Error(`MTU ${external.mtu} of iface ${external.name} is too small for ipip mode to work`)
    const local = external.address
    // A kernel that lacks the module is reported before the node has a lease.
    withHostNetwork(calls, undefined, (host) => ensureIpipLink(host, { local, mtu: external.mtu - overhead, log }))
    const lease = await subnets.acquireLease({ backendType: ipipType, publicIP: external.publicIP }, signal)
    if (lease.subnet === undefined)
      throw new Error('IPv4 is enabled but the lease has no IPv4: give the node a subnet of IPv4')
    const network = new IpipNetwork(context, { directRouting, local, lease: { ...lease, subnet: lease.subnet } })
    network.restore()
    return network
  },
}
