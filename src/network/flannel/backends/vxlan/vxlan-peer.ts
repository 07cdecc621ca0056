/** Another node of the backend vxlan, as its lease describes it. */
import type { Lease } from '../../subnets/subnet-manager.ts'
import { vtepMac } from './mac-address.ts'

export interface VxlanPeer {
  readonly family: 4 | 6
  /** `10.244.1.0/24`. */
  readonly subnet: string
  /** The address of the node's `flannel.VNI`: the first of its subnet. */
  readonly gateway: string
  /** The MAC address of its `flannel.VNI`. */
  readonly mac: string
  /** The address of the node: the destination of encapsulated packets. */
  readonly host: string
}

/** Returns a peer for each family of the lease. Calls `fail` with a sentence for data that cannot be used. */
export function vxlanPeers(lease: Lease, fail: (message: string) => void): VxlanPeer[] {
  const { publicIP, publicIPv6, backendData, backendV6Data } = lease.attributes
  const families = [
    { family: 4, subnet: lease.subnet, host: publicIP, data: backendData },
    { family: 6, subnet: lease.ipv6Subnet, host: publicIPv6, data: backendV6Data },
  ] as const
  return families.flatMap(({ family, subnet, host, data }) => {
    if (subnet === undefined) return []
    const mac = vtepMac(data)
    const gateway = subnet.split('/')[0]!
    if (host !== undefined && mac !== undefined) return [{ family, subnet, gateway, mac, host }]
    fail(
      `the lease ${subnet} of the node ${lease.node} has ${host === undefined ? 'no address' : 'no VtepMAC'}: ` +
        'restart flannel on that node',
    )
    return []
  })
}
