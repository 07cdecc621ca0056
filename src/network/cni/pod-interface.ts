/** The interface of a pod: a pair of virtual Ethernet devices between the bridge and the pod's namespace. */
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { ignoreErrors } from '../../lib/linux/c-library.ts'
import { inNetwork } from '../../lib/linux/network-namespace.ts'
import type { SystemCalls } from '../../lib/linux/system-calls.ts'
import { type HostNetwork, withHostNetwork } from '../netlink/host-network.ts'
import type { Link } from '../netlink/links.ts'
import type { Attachment } from './attachment.ts'
import { hardwareAddress, setParameter } from './bridge.ts'

export interface InterfaceAddressing {
  /** `10.88.0.5/16`. */
  readonly address: string
  readonly gateway: string
}

export interface InterfaceOptions {
  readonly bridge: Link
  readonly mtu?: number | undefined
  /** Lets a pod reach itself through a Service. */
  readonly hairpin: boolean
  readonly addresses: readonly InterfaceAddressing[]
  /** Destinations by the gateway of their family: `0.0.0.0/0`. */
  readonly routes: readonly string[]
}

/** Longest name of an interface. */
const maxName = 15

/** The host's end of a pod's interface; the same for the same attachment. */
export const hostInterfaceName = ({ id, interfaceName }: Pick<Attachment, 'id' | 'interfaceName'>): string =>
  `veth${createHash('sha256').update(`${id}/${interfaceName}`).digest('hex')}`.slice(0, maxName)

/**
 * Creates the interface without addresses, connects it to the bridge, and returns the host's end. Replaces one that an
 * earlier attempt left.
 */
export function createInterface(host: HostNetwork, attachment: Attachment, options: InterfaceOptions): Link {
  const name = hostInterfaceName(attachment)
  const stale = host.links.find(name)
  if (stale) host.links.remove(stale)
  const namespaceFd = openSync(attachment.namespace, 'r')
  try {
    const [first] = options.addresses
    const peer = { name: attachment.interfaceName, namespaceFd, address: first && hardwareAddress(ipOf(first.address)) }
    host.links.addVeth({ name, mtu: options.mtu, peer })
  } finally {
    closeSync(namespaceFd)
  }
  const hostEnd = host.links.find(name)!
  host.links.change(hostEnd, { isUp: true, master: options.bridge.index })
  if (options.hairpin) host.links.setHairpin(hostEnd)
  return { ...hostEnd, isUp: true }
}

/** Gives the pod's end its addresses and routes; returns it. */
export function configureInterface(
  calls: SystemCalls,
  { namespace, interfaceName }: Attachment,
  options: InterfaceOptions,
): Link {
  inNetwork(calls, namespace, () => letAnnounce(interfaceName, options.addresses))
  return withHostNetwork(calls, namespace, (pod) => configure(pod, interfaceName, options))
}

/**
 * Announces the pod's addresses to the bridge: a gratuitous ARP, and an advertisement of IPv6, so that other hosts
 * correct what they know of a former owner. The kernel sends them when the hardware address is set, to what it is.
 */
export function announceInterface(
  calls: SystemCalls,
  { namespace, interfaceName }: Pick<Attachment, 'namespace' | 'interfaceName'>,
): void {
  withHostNetwork(calls, namespace, ({ links }) => {
    const link = links.find(interfaceName)
    if (link) links.change(link, { address: link.address })
  })
}

function letAnnounce(name: string, addresses: readonly InterfaceAddressing[]): void {
  const isFamily6 = ({ address }: InterfaceAddressing): boolean => address.includes(':')
  if (addresses.some(isFamily6)) setParameter(`ipv6/conf/${name}/ndisc_notify`)
  if (!addresses.every(isFamily6)) setParameter(`ipv4/conf/${name}/arp_notify`)
}

function configure(pod: HostNetwork, interfaceName: string, { addresses, routes }: InterfaceOptions): Link {
  const link = pod.links.find(interfaceName)!
  for (const name of ['lo', interfaceName]) pod.links.change(pod.links.find(name)!, { isUp: true })
  for (const { address } of addresses) pod.addresses.add(link, address)
  for (const destination of routes) {
    const way = addresses.find(({ gateway }) => gateway.includes(':') === destination.includes(':'))
    if (way) pod.routes.add(link, { destination, gateway: way.gateway, link: link.index })
  }
  return link
}

/** Removes the host's end, and with it the pod's. Succeeds if there is none. */
export function removeInterface({ links }: HostNetwork, attachment: Pick<Attachment, 'id' | 'interfaceName'>): void {
  const link = links.find(hostInterfaceName(attachment))
  if (!link) return
  try {
    links.remove(link)
  } catch (error) {
    // The pod's namespace ended at this moment.
    ignoreErrors(error, 'ENODEV')
  }
}

export const ipOf = (address: string): string => address.split('/')[0]!
