/** The backend vxlan: packets to pods of other nodes travel in UDP packets between interfaces `flannel.VNI`. */
import { withHostNetwork } from '../../../netlink/host-network.ts'
import type { Lease, StoredNode } from '../../subnets/subnet-manager.ts'
import type { Backend, BackendContext } from '../backend.ts'
import { randomMac, vtepMac } from './mac-address.ts'
import { type VxlanConfig, vxlanConfig } from './vxlan-config.ts'
import { ensureDevice, type WantedDevice } from './vxlan-device.ts'
import { VxlanNetwork } from './vxlan-network.ts'

export const vxlanBackend: Backend = {
  type: 'vxlan',
  async register(context) {
    const { subnets, signal, config, external, calls, log } = context
    const settings = vxlanConfig(config.backend)
    const devices = wantedDevices(context, settings, await subnets.storedNode(signal))
    const lease = withHostNetwork(calls, undefined, (host) => {
      const [four, six] = devices.map((device) => device && ensureDevice(host, device, log))
      return subnets.acquireLease(
        {
          backendType: 'vxlan',
          ...(four && { publicIP: external.publicIP, backendData: leaseData(settings, four.address) }),
          ...(six && { publicIPv6: external.publicIPv6, backendV6Data: leaseData(settings, six.address) }),
        },
        signal,
      )
    })
    const acquired = checkedLease(await lease, config.enableIPv4, config.enableIPv6)
    const network = new VxlanNetwork(context, settings, devices, acquired)
    network.configure()
    return network
  },
}

const leaseData = ({ vni }: VxlanConfig, mac: string): object => ({ VNI: vni, VtepMAC: mac })

/** Ethernet 14, VXLAN 8, UDP 8, and IPv4 20 or IPv6 40, in bytes. */
const overhead = { 4: 50, 6: 70 } as const

/** One device for each family that is on. */
function wantedDevices(
  { config, external, random }: BackendContext,
  settings: VxlanConfig,
  stored: StoredNode,
): readonly [WantedDevice | undefined, WantedDevice | undefined] {
  const { vni, port, learning, groupPolicy, macPrefix } = settings
  const common = { vni, port, learning, groupPolicy, link: external.index }
  const mtu = settings.mtu ?? external.mtu
  const macOf = (data: unknown): string => vtepMac(data) ?? randomMac(random, macPrefix)
  return [
    config.enableIPv4
      ? {
          ...common,
          name: `flannel.${vni}`,
          local: external.address,
          mtu: mtu - overhead[4],
          mac: macOf(stored.backendData),
        }
      : undefined,
    config.enableIPv6
      ? {
          ...common,
          name: `flannel-v6.${vni}`,
          local: external.ipv6Address,
          mtu: mtu - overhead[6],
          mac: macOf(stored.backendV6Data),
        }
      : undefined,
  ]
}

function checkedLease(lease: Lease, enableIPv4: boolean, enableIPv6: boolean): Lease {
  const missing =
    enableIPv4 && lease.subnet === undefined ? 'IPv4' : enableIPv6 && !lease.ipv6Subnet ? 'IPv6' : undefined
  if (missing === undefined) return lease
  throw new Error(
    `${missing} is enabled but the lease has no ${missing}: give the node a subnet of the family, or set ` +
      `Enable${missing} to false in the flannel config`,
  )
}
