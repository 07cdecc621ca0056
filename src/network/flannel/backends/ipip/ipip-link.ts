/** The interface `flannel.ipip`. The kernel's own `tunl0`, which takes the packets of others, is not touched. */
import { errorCode } from '../../../../lib/explained-error.ts'
import { addressFromBytes, addressToBytes } from '../../../netlink/address-bytes.ts'
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import { attribute, decodeAttributes, uint8 } from '../../../netlink/message.ts'

export const ipipDevice = 'flannel.ipip'
/** A header of IPv4, in bytes. */
export const overhead = 20
const kind = 'ipip'
/** Attributes of the kind (linux/if_tunnel.h). */
const attributes = { local: 2, remote: 3, pathMtuDiscovery: 10 } as const
const anyAddress = '0.0.0.0'

export interface WantedIpipLink {
  /** This node's address. */
  readonly local: string
  /** In bytes. */
  readonly mtu: number
  readonly log: (line: string) => void
}

/**
 * Returns the interface; creates it, or creates it again if the present one has other addresses.
 * @throws an Error with the kernel's module if it is missing.
 */
export function ensureIpipLink({ links }: Pick<HostNetwork, 'links'>, { local, mtu, log }: WantedIpipLink): Link {
  const present = links.find(ipipDevice)
  if (present && present.kind !== kind)
    throw new Error(`${ipipDevice} isn't an ipip mode device, please remove device and try again`)
  const addresses = present && addressesOf(present)
  const fits = addresses?.local === local && addresses.remote === anyAddress
  if (present && addresses && !fits) {
    const found = `local=${addresses.local} remote=${addresses.remote}`
    log(`"${ipipDevice}" already exists with incompatible attributes: ${found}; recreating device`)
    links.remove(present)
  }
  if (!present || !fits) addLink(links, local, mtu)
  const link = links.find(ipipDevice)!
  if (link.mtu !== mtu) links.change(link, { mtu })
  return links.find(ipipDevice)!
}

function addLink(links: HostNetwork['links'], local: string, mtu: number): void {
  // As upstream: the sizes of ways are not searched for by outer packets.
  const data = [attribute(attributes.local, addressToBytes(local)), uint8(attributes.pathMtuDiscovery, 0)]
  try {
    links.addDevice({ name: ipipDevice, kind, data, mtu })
  } catch (error) {
    if (errorCode(error) !== 'EOPNOTSUPP' && errorCode(error) !== 'ENOTSUP') throw error
    throw new Error(
      'failed to create ipip interface: the kernel lacks the module ipip. Load it with modprobe ipip, or use the ' +
        'backend vxlan',
      { cause: error },
    )
  }
}

function addressesOf({ data }: Link): { readonly local: string; readonly remote: string } {
  const found = decodeAttributes(data)
  const text = (type: number): string => {
    const bytes = found.get(type)
    return bytes ? addressFromBytes(bytes) : anyAddress
  }
  return { local: text(attributes.local), remote: text(attributes.remote) }
}
