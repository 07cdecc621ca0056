/** The backend udp: packets to pods of other nodes travel in UDP packets, which this program sends and receives. */
import { integerOf } from '../../config/network-config.ts'
import type { Backend } from '../backend.ts'
import { UdpNetwork } from './udp-network.ts'

/** Upstream's port. */
const defaultPort = 8285

export const udpBackend: Backend = {
  type: 'udp',
  async register(context) {
    const { config, external, subnets, signal, log } = context
    if (!config.enableIPv4 || external.address === undefined)
      throw new Error('the backend udp carries IPv4 only: set EnableIPv4 to true, or use the backend vxlan')
    if (config.enableIPv6) log('the backend udp carries IPv4 only: pods of other nodes have no IPv6 address to reach')
    const port = integerOf(config.backend, 'Port', 1, 65_535) ?? defaultPort
    // Without a type, as upstream publishes it.
    const lease = await subnets.acquireLease({ backendType: '', publicIP: external.publicIP }, signal)
    if (lease.subnet === undefined)
      throw new Error('IPv4 is enabled but the lease has no IPv4: give the node a subnet of IPv4')
    return new UdpNetwork(context, port, { ...lease, subnet: lease.subnet })
  },
}
