/** Neighbour solicitations and advertisements of IPv6 as frames: what ARP is for IPv4 (RFC 4861). */
import { addressFromBytes, addressToBytes } from '../../netlink/address-bytes.ts'
import { decodeFrame, encodeFrame, etherTypes } from './ethernet-frame.ts'
import { hardwareText } from './hardware-address.ts'

const headerSize = 40
const icmpv6 = 58
const messageTypes = { solicitation: 135, advertisement: 136 } as const
const messageSize = 24
/** The option of an advertisement: the hardware address of the target. */
const targetLinkAddress = 2
const optionSize = 8

/** An advertisement, or the search for an address by a host that wants it. */
export interface NeighbourMessage {
  readonly kind: 'advertisement' | 'search'
  /** The address that is advertised or wanted. */
  readonly address: string
  /** The hardware address that has it or wants it. */
  readonly hardware: string
}

/**
 * The frame that searches for a host with an address before another host takes it (RFC 4862, section 5.4.2): from no
 * address to the group of the address.
 */
export function encodeAddressSearch(source: string, address: string): Buffer {
  const target = addressToBytes(address)
  const group = Buffer.from('ff0200000000000000000001ff000000', 'hex')
  target.copy(group, 13, 13)
  const message = Buffer.alloc(messageSize)
  message.writeUInt8(messageTypes.solicitation, 0)
  target.copy(message, 8)
  const destination = hardwareText(Buffer.concat([Buffer.from([0x33, 0x33]), group.subarray(12)]))
  const payload = packetOf(Buffer.alloc(16), group, message)
  return encodeFrame({ destination, source, etherType: etherTypes.ipv6, payload })
}

/** Returns undefined for frames of other kinds. Solicitations of hosts that have an address are of no interest here. */
export function decodeNeighbourMessage(bytes: Buffer): NeighbourMessage | undefined {
  const frame = decodeFrame(bytes)
  if (frame?.etherType !== etherTypes.ipv6 || frame.payload.length < headerSize + messageSize) return undefined
  const { payload, source } = frame
  const message = payload.subarray(headerSize)
  if (payload[6] !== icmpv6 || payload[7] !== 255) return undefined
  const address = addressFromBytes(message.subarray(8, messageSize))
  if (message[0] === messageTypes.advertisement)
    return { kind: 'advertisement', address, hardware: linkAddressOf(message) ?? source }
  const hasNoAddress = payload.subarray(8, 24).every((byte) => byte === 0)
  if (message[0] === messageTypes.solicitation && hasNoAddress) return { kind: 'search', address, hardware: source }
  return undefined
}

function linkAddressOf(message: Buffer): string | undefined {
  for (let at = messageSize; at + optionSize <= message.length; ) {
    const size = message[at + 1]! * 8
    if (size === 0) return undefined
    if (message[at] === targetLinkAddress && size === optionSize) return hardwareText(message.subarray(at + 2, at + 8))
    at += size
  }
  return undefined
}

function packetOf(source: Buffer, destination: Buffer, message: Buffer): Buffer {
  const header = Buffer.alloc(headerSize)
  header.writeUInt8(0x60, 0)
  header.writeUInt16BE(message.length, 4)
  header.writeUInt8(icmpv6, 6)
  // Routers lower it, so that a receiver knows that the sender is on its link.
  header.writeUInt8(255, 7)
  source.copy(header, 8)
  destination.copy(header, 24)
  message.writeUInt16BE(checksum(Buffer.concat([source, destination, pseudoEnd(message.length), message])), 2)
  return Buffer.concat([header, message])
}

/** The length and the protocol, at the end of the header that a checksum covers (RFC 8200, section 8.1). */
function pseudoEnd(length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(length, 0)
  bytes.writeUInt8(icmpv6, 7)
  return bytes
}

/** The checksum of an even number of bytes (RFC 1071). */
function checksum(bytes: Buffer): number {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}
