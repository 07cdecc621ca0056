/** The backend host-gw: a route to each node's subnet by the node itself. All nodes need a common link. */
import type { Backend } from '../backend.ts'
import { HostGwNetwork } from './host-gw-network.ts'

export const hostGwType = 'host-gw'

export const hostGwBackend: Backend = {
  type: hostGwType,
  async register(context) {
    const { external, config, subnets, signal } = context
    const isTranslated =
      (config.enableIPv4 && external.publicIP !== external.address) ||
      (config.enableIPv6 && external.publicIPv6 !== external.ipv6Address)
    if (isTranslated)
      throw new Error(
        "your PublicIP differs from interface IP, meaning that probably you're on a NAT, which is not supported by " +
          'host-gw backend: use the backend vxlan',
      )
    const lease = await subnets.acquireLease(
      {
        backendType: hostGwType,
        publicIP: config.enableIPv4 ? external.publicIP : undefined,
        publicIPv6: config.enableIPv6 ? external.publicIPv6 : undefined,
      },
      signal,
    )
    return new HostGwNetwork(context, lease)
  },
}
