/** The bridge of the node: the switch to which its pods are connected, and their gateway. */
import { readFileSync, writeFileSync } from 'node:fs'
import { ignoreErrors } from '../../lib/linux/c-library.ts'
import { addressToBytes } from '../netlink/address-bytes.ts'
import type { HostNetwork } from '../netlink/host-network.ts'
import type { Link } from '../netlink/links.ts'

export interface BridgeOptions {
  /** `cni0`. */
  readonly name: string
  readonly mtu?: number | undefined
  /** Addresses of the bridge with their prefix: `10.88.0.1/16`. */
  readonly gateways: readonly string[]
}

/**
 * Creates the bridge, or changes it to have the addresses and to be up; lets the host forward packets.
 * @throws if an interface of another kind has the name.
 */
export function ensureBridge({ links, addresses }: HostNetwork, { name, mtu, gateways }: BridgeOptions): Link {
  const isNew = links.find(name) === undefined
  if (isNew) addUnlessPresent(() => links.addBridge(name, { mtu }))
  const bridge = links.find(name)
  if (!bridge) throw new Error(`the bridge ${name} was removed while it was set up: try again`)
  if (bridge.kind !== 'bridge')
    throw new Error(`the interface ${name} exists and is no bridge: choose another name with "bridge"`)
  const [first] = gateways
  // Without an address of its own, the bridge takes the lowest of its ports, and changes when pods come and go.
  if (isNew && first !== undefined) links.change(bridge, { address: hardwareAddress(first.split('/')[0]!) })
  const present = addresses.list().filter(({ link }) => link === bridge.index)
  for (const gateway of gateways)
    if (!present.some(({ address }) => address === gateway)) addUnlessPresent(() => addresses.add(bridge, gateway))
  if (!bridge.isUp) links.change(bridge, { isUp: true })
  for (const gateway of gateways) setParameter(gateway.includes(':') ? 'ipv6/conf/all/forwarding' : 'ipv4/ip_forward')
  return bridge
}

/** Removes the bridge with its addresses. Does nothing if there is none, or if others have connected interfaces. */
export function removeBridge({ links }: HostNetwork, name: string): void {
  const present = links.list()
  const bridge = present.find((link) => link.name === name)
  if (bridge?.kind === 'bridge' && !present.some(({ master }) => master === bridge.index)) links.remove(bridge)
}

/** `0a:58:0a:58:00:05` for 10.88.0.5: an address that comes again has the same hardware, so that no cache is stale. */
export function hardwareAddress(address: string): string {
  const bytes = addressToBytes(address)
  return ['0a', '58', ...[...bytes.subarray(-4)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':')
}

/** Another process may add the same at the same time. */
function addUnlessPresent(add: () => void): void {
  try {
    add()
  } catch (error) {
    ignoreErrors(error, 'EEXIST')
  }
}

/** Lets clients on the host's loopback reach pods: packets from 127.0.0.1 may leave by the bridge. */
export const allowLoopback = (bridge: string): void => setParameter(`ipv4/conf/${bridge}/route_localnet`)

/** Sets the kernel's parameter to 1 in the network namespace of the thread. */
export function setParameter(name: string): void {
  const file = `/proc/sys/net/${name}`
  if (readFileSync(file, 'utf8').trim() !== '1') writeFileSync(file, '1')
}
