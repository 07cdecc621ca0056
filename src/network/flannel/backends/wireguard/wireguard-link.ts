/** The interfaces `flannel-wg` and `flannel-wg-v6`: in the kernel, or of a program that runs already. */
import { errorCode } from '../../../../lib/explained-error.ts'
import type { SystemCalls } from '../../../../lib/linux/system-calls.ts'
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import { KernelDevice } from '../../../netlink/wireguard/kernel-device.ts'
import { hasUserSpaceDevice, socketFile, UserSpaceDevice } from '../../../netlink/wireguard/user-space-device.ts'
import type { WireguardDevice } from '../../../netlink/wireguard/wireguard-device.ts'

const kind = 'wireguard'

/**
 * Returns the interface; creates it in the kernel if it is missing.
 * @throws an Error with the kernel's module, and the program that replaces it, if it is missing.
 */
export function ensureWireguardLink({ links }: HostNetwork, name: string, mtu: number): Link {
  const present = links.find(name)
  if (!present) addLink(links, name, mtu)
  else if (present.kind !== kind && !hasUserSpaceDevice(name))
    throw new Error(`${name} is no interface of WireGuard: remove it with ip link delete ${name}`)
  const found = links.find(name)!
  if (found.mtu !== mtu) links.change(found, { mtu })
  return links.find(name)!
}

/** The settings of the interface. */
export const wireguardDevice = (calls: SystemCalls, { name, kind: found }: Link): WireguardDevice =>
  found === kind ? new KernelDevice(calls, name) : new UserSpaceDevice(socketFile(name))

function addLink(links: HostNetwork['links'], name: string, mtu: number): void {
  try {
    links.addDevice({ name, kind, data: [], mtu })
  } catch (error) {
    if (errorCode(error) !== 'EOPNOTSUPP' && errorCode(error) !== 'ENOTSUP') throw error
    throw new Error(
      `could not create wireguard interface: the kernel lacks the module wireguard. Load it with modprobe wireguard ` +
        `(Linux 5.6 and later have it), or start wireguard-go ${name} before flannel`,
      { cause: error },
    )
  }
}
