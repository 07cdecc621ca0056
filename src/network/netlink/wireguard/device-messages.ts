/** Messages of the netlink family `wireguard` (linux/wireguard.h). */
import { addressFromBytes, addressToBytes, families, familyOf } from '../address-bytes.ts'
import { attribute, decodeAttributes, nested, text, uint8, uint16, uint32 } from '../message.ts'
import type { PeerChange, WireguardChange, WireguardPeer, WireguardState } from './wireguard-device.ts'

const device = { name: 2, privateKey: 3, publicKey: 4, listenPort: 6, peers: 8 } as const
const peer = { publicKey: 1, presharedKey: 2, flags: 3, endpoint: 4, keepalive: 5, allowedIPs: 9 } as const
const peerFlags = { remove: 1, replaceAllowedIPs: 2 } as const
const allowedIP = { family: 1, address: 2, prefix: 3 } as const
/** Elements of lists have no type. */
const element = 0
const endpointSizes = { ipv4: 16, ipv6: 28 } as const

/** The attributes that name a device. */
export const deviceName = (name: string): Buffer => text(device.name, name)

export function encodeChange(
  name: string,
  { privateKey, listenPort, peers = [], removed = [] }: WireguardChange,
): Buffer[] {
  const all = [...removed.map(encodeRemoval), ...peers.map(encodePeer)]
  return [
    deviceName(name),
    ...(privateKey ? [attribute(device.privateKey, privateKey)] : []),
    ...(listenPort === undefined ? [] : [uint16(device.listenPort, listenPort)]),
    ...(all.length > 0 ? [nested(device.peers, ...all)] : []),
  ]
}

const encodeRemoval = (publicKey: Buffer): Buffer =>
  nested(element, attribute(peer.publicKey, publicKey), uint32(peer.flags, peerFlags.remove))

function encodePeer({ publicKey, presharedKey, endpoint, keepaliveSeconds, allowedIPs }: PeerChange): Buffer {
  return nested(
    element,
    attribute(peer.publicKey, publicKey),
    // Zeros: none.
    attribute(peer.presharedKey, presharedKey ?? Buffer.alloc(32)),
    ...(allowedIPs ? [uint32(peer.flags, peerFlags.replaceAllowedIPs)] : []),
    ...(endpoint ? [attribute(peer.endpoint, encodeEndpoint(endpoint))] : []),
    uint16(peer.keepalive, keepaliveSeconds),
    ...(allowedIPs ? [nested(peer.allowedIPs, ...allowedIPs.map(encodeRange))] : []),
  )
}

function encodeRange(range: string): Buffer {
  const [address = '', prefix = ''] = range.split('/')
  return nested(
    element,
    uint16(allowedIP.family, familyOf(address)),
    attribute(allowedIP.address, addressToBytes(address)),
    uint8(allowedIP.prefix, Number(prefix)),
  )
}

/** `struct sockaddr_in` or `struct sockaddr_in6`. */
function encodeEndpoint({ address, port }: NonNullable<WireguardPeer['endpoint']>): Buffer {
  const family = familyOf(address)
  const isIPv4 = family === families.ipv4
  const bytes = Buffer.alloc(isIPv4 ? endpointSizes.ipv4 : endpointSizes.ipv6)
  bytes.writeUInt16LE(family, 0)
  bytes.writeUInt16BE(port, 2)
  addressToBytes(address).copy(bytes, isIPv4 ? 4 : 8)
  return bytes
}

/** The state of a device from the attributes of all messages of an answer: a long list of peers needs several. */
export function decodeState(messages: readonly ReadonlyMap<number, Buffer>[]): WireguardState {
  const [first] = messages
  const peers = new Map<string, WireguardPeer>()
  for (const message of messages)
    for (const bytes of elementsOf(message.get(device.peers))) {
      const found = decodePeer(bytes)
      const key = found.publicKey.toString('hex')
      // A peer whose ranges do not fit into a message continues in the next one.
      const known = peers.get(key)
      peers.set(key, known ? { ...known, allowedIPs: [...known.allowedIPs, ...found.allowedIPs] } : found)
    }
  return {
    publicKey: first?.get(device.publicKey),
    listenPort: first?.get(device.listenPort)?.readUInt16LE() ?? 0,
    peers: [...peers.values()],
  }
}

function decodePeer(bytes: Buffer): WireguardPeer {
  const found = decodeAttributes(bytes)
  return {
    publicKey: found.get(peer.publicKey) ?? Buffer.alloc(32),
    endpoint: decodeEndpoint(found.get(peer.endpoint)),
    keepaliveSeconds: found.get(peer.keepalive)?.readUInt16LE() ?? 0,
    allowedIPs: elementsOf(found.get(peer.allowedIPs)).map((range) => {
      const parts = decodeAttributes(range)
      const address = parts.get(allowedIP.address) ?? Buffer.alloc(4)
      return `${addressFromBytes(address)}/${parts.get(allowedIP.prefix)?.[0] ?? 0}`
    }),
  }
}

function decodeEndpoint(bytes: Buffer | undefined): WireguardPeer['endpoint'] {
  if (!bytes || bytes.length < endpointSizes.ipv4) return undefined
  const isIPv4 = bytes.readUInt16LE(0) === families.ipv4
  const address = addressFromBytes(isIPv4 ? bytes.subarray(4, 8) : bytes.subarray(8, 24))
  return { address, port: bytes.readUInt16BE(2) }
}

/** The values of a list, whose elements share a type. */
function elementsOf(list: Buffer | undefined): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; list && at + 4 <= list.length; ) {
    const length = list.readUInt16LE(at)
    if (length < 4 || at + length > list.length) break
    found.push(list.subarray(at + 4, at + length))
    at += (length + 3) & ~3
  }
  return found
}
