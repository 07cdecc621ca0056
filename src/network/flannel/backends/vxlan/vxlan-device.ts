/** The interface `flannel.VNI`: created once, and used again by later processes, so that no connection breaks. */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import { errorCode } from '../../../../lib/explained-error.ts'
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import { type VxlanSettings, vxlanAttributes, vxlanSettings } from '../../../netlink/vxlan-attributes.ts'

export interface WantedDevice extends VxlanSettings {
  readonly name: string
  /** In bytes. */
  readonly mtu: number
  /** The MAC address of a new interface. */
  readonly mac: string
}

/**
 * Returns the interface; creates it, or creates it again if the present one has other settings. One with other settings
 * of size only is changed.
 * @throws an Error with the kernel's module if it is missing.
 */
export function ensureDevice({ links }: HostNetwork, wanted: WantedDevice, log: (line: string) => void): Link {
  const present = links.find(wanted.name)
  const difference = present && differenceOf(present, wanted)
  if (present && difference === undefined) {
    if (present.mtu !== wanted.mtu) links.change(present, { mtu: wanted.mtu })
    return links.find(wanted.name)!
  }
  if (present) {
    log(`${wanted.name} already exists with incompatible configuration: ${difference}; recreating device`)
    links.remove(present)
  }
  const { name, mtu, mac: address } = wanted
  try {
    links.addDevice({ name, kind: 'vxlan', data: vxlanAttributes(wanted), mtu, address })
  } catch (error) {
    throw explained(error, wanted)
  }
  ignoreRouterAdvertisements(name)
  return links.find(name)!
}

/** Gives the interface one address of the network, and enables it. Other addresses of the network are removed. */
export function configureDevice(
  { links, addresses }: HostNetwork,
  device: Link,
  { address, network }: { readonly address: string; readonly network: string },
): void {
  const present = addresses.list().filter(({ link }) => link === device.index)
  for (const one of present)
    if (one.address !== address && rangeHas(network, one.address.split('/')[0]!)) addresses.remove(device, one.address)
  if (!present.some((one) => one.address === address)) addresses.add(device, address)
  if (!device.isUp) links.change(device, { isUp: true })
}

/** The address of a node on its interface: the first of its subnet, alone, so that no broadcast routes are created. */
export function deviceAddress(subnet: string): string {
  const bits = parseCidr(subnet)?.family === 6 ? 128 : 32
  return `${subnet.split('/')[0]}/${bits}`
}

/** Settings that cannot be changed while the interface exists. */
function differenceOf(present: Link, wanted: WantedDevice): string | undefined {
  if (present.kind !== 'vxlan') return `link type: vxlan vs ${present.kind || 'device'}`
  const settings = vxlanSettings(present.data)
  if (settings.vni !== wanted.vni) return `vni: ${wanted.vni} vs ${settings.vni}`
  if (settings.link !== wanted.link) return `vtep (external) interface: ${wanted.link} vs ${settings.link}`
  if (settings.local !== wanted.local) return `vtep (external) IP: ${wanted.local} vs ${settings.local}`
  if (settings.port !== wanted.port) return `port: ${wanted.port} vs ${settings.port}`
  if (settings.groupPolicy !== wanted.groupPolicy) return `gbp: ${wanted.groupPolicy} vs ${settings.groupPolicy}`
  if (settings.learning !== wanted.learning) return `learning: ${wanted.learning} vs ${settings.learning}`
  return undefined
}

function explained(error: unknown, { name, vni, port, groupPolicy }: WantedDevice): unknown {
  const code = errorCode(error)
  if (code === 'EOPNOTSUPP' || code === 'ENOTSUP')
    return new Error(
      `the kernel cannot create ${name}: it lacks the module vxlan. Load it with modprobe vxlan, or install it ` +
        '(linux-modules-extra-…), or use the backend host-gw',
      { cause: error },
    )
  if (code === 'EEXIST' || code === 'EADDRINUSE')
    return new Error(
      `the kernel cannot create ${name}: another interface has the VNI ${vni} on the port ${port}. ip -d link show ` +
        'type vxlan lists it: remove it, or choose another VNI or Port in the Backend of the flannel config',
      { cause: error },
    )
  if (code === 'EINVAL' && groupPolicy)
    return new Error(`the kernel cannot create ${name} with GBP: leave GBP out of the Backend of the flannel config`, {
      cause: error,
    })
  return error
}

/** Other hosts of the network must not configure this one. */
function ignoreRouterAdvertisements(name: string): void {
  const file = `/proc/sys/net/ipv6/conf/${name}/accept_ra`
  try {
    if (readFileSync(file, 'utf8').trim() !== '0') writeFileSync(file, '0')
  } catch {
    // Without IPv6, or with a read-only /proc: the setting has no effect, or stays.
  }
}
