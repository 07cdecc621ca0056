/** ARP packets as bytes (RFC 826): 28 for Ethernet and IPv4; other sizes follow from HLEN and PLEN. */
import { addressFromBytes, addressToBytes } from '../../netlink/address-bytes.ts'
import { hardwareText, hardwareToBytes } from './hardware-address.ts'

export const hardwareTypes = { ethernet: 1 } as const
/** Values of the field PTYPE, which are those of EtherTypes. */
export const protocolTypes = { ipv4: 0x0800 } as const
/** Values of the field OP; RFC 826, 903, 2390 and the registry of IANA. */
export const operations = {
  request: 1,
  reply: 2,
  reverseRequest: 3,
  reverseReply: 4,
  inverseRequest: 8,
  inverseReply: 9,
  negative: 10,
} as const

/** Bytes before the addresses. */
export const fixedSize = 8

export interface ArpPacket {
  /** HTYPE; 1 is Ethernet. */
  readonly hardwareType: number
  /** PTYPE; 0x0800 is IPv4. */
  readonly protocolType: number
  /** OP. */
  readonly operation: number
  /** SHA; its size is HLEN. */
  readonly senderHardware: Buffer
  /** SPA; its size is PLEN. */
  readonly senderProtocol: Buffer
  /** THA; its size is HLEN. */
  readonly targetHardware: Buffer
  /** TPA; its size is PLEN. */
  readonly targetProtocol: Buffer
}

export type DecodedArp =
  | { readonly packet: ArpPacket /** Bytes of the packet, without padding. */; readonly size: number }
  /** The reason why the bytes are no ARP packet. */
  | { readonly problem: string }

/** The parts of a packet for Ethernet and IPv4, as texts. */
export interface Ipv4Arp {
  readonly operation: number
  /** `76:cb:15:06:92:87`. */
  readonly senderHardware: string
  /** `192.168.1.101`. */
  readonly senderAddress: string
  readonly targetHardware: string
  readonly targetAddress: string
}

/** Encodes a packet. @throws if the addresses of sender and target differ in size. */
export function encodeArp(packet: ArpPacket): Buffer {
  const { senderHardware, senderProtocol, targetHardware, targetProtocol } = packet
  if (senderHardware.length !== targetHardware.length || senderProtocol.length !== targetProtocol.length)
    throw new Error('the addresses of the sender and of the target of an ARP packet must have the same size')
  const fixed = Buffer.alloc(fixedSize)
  fixed.writeUInt16BE(packet.hardwareType, 0)
  fixed.writeUInt16BE(packet.protocolType, 2)
  fixed.writeUInt8(senderHardware.length, 4)
  fixed.writeUInt8(senderProtocol.length, 5)
  fixed.writeUInt16BE(packet.operation, 6)
  return Buffer.concat([fixed, senderHardware, senderProtocol, targetHardware, targetProtocol])
}

/** Encodes a packet for Ethernet and IPv4: 28 bytes. @throws for texts that are no addresses. */
export const encodeIpv4Arp = (arp: Ipv4Arp): Buffer =>
  encodeArp({
    hardwareType: hardwareTypes.ethernet,
    protocolType: protocolTypes.ipv4,
    operation: arp.operation,
    senderHardware: hardwareToBytes(arp.senderHardware),
    senderProtocol: addressToBytes(arp.senderAddress),
    targetHardware: hardwareToBytes(arp.targetHardware),
    targetProtocol: addressToBytes(arp.targetAddress),
  })

/** Decodes a packet; bytes after it are padding of Ethernet. */
export function decodeArp(bytes: Buffer): DecodedArp {
  if (bytes.length < fixedSize)
    return { problem: `the packet is cut off: it has ${bytes.length} bytes, and its first fields need ${fixedSize}` }
  const hardwareType = bytes.readUInt16BE(0)
  const protocolType = bytes.readUInt16BE(2)
  const hardwareSize = bytes.readUInt8(4)
  const protocolSize = bytes.readUInt8(5)
  const size = fixedSize + 2 * (hardwareSize + protocolSize)
  if (hardwareType === hardwareTypes.ethernet && hardwareSize !== 6)
    return { problem: `HLEN is ${hardwareSize}: hardware addresses of Ethernet have 6 bytes` }
  if (protocolType === protocolTypes.ipv4 && protocolSize !== 4)
    return { problem: `PLEN is ${protocolSize}: addresses of IPv4 have 4 bytes` }
  if (bytes.length < size)
    return {
      problem:
        `the packet is cut off: it has ${bytes.length} bytes, ` +
        `and HLEN ${hardwareSize} and PLEN ${protocolSize} make it ${size} bytes long`,
    }
  const ends = [hardwareSize, protocolSize, hardwareSize, protocolSize]
  let at = fixedSize
  const [senderHardware, senderProtocol, targetHardware, targetProtocol] = ends.map((length) => {
    at += length
    return bytes.subarray(at - length, at)
  }) as [Buffer, Buffer, Buffer, Buffer]
  const packet = { hardwareType, protocolType, operation: bytes.readUInt16BE(6) }
  return { packet: { ...packet, senderHardware, senderProtocol, targetHardware, targetProtocol }, size }
}

/** The addresses of the packet in a payload; undefined for a malformed one, or one of other networks. */
export function arpOf(payload: Buffer): Ipv4Arp | undefined {
  const decoded = decodeArp(payload)
  return 'packet' in decoded ? ipv4ArpOf(decoded.packet) : undefined
}

/** The addresses of a packet as texts; undefined if it is not for Ethernet and IPv4. */
export function ipv4ArpOf(packet: ArpPacket): Ipv4Arp | undefined {
  if (packet.hardwareType !== hardwareTypes.ethernet || packet.protocolType !== protocolTypes.ipv4) return undefined
  return {
    operation: packet.operation,
    senderHardware: hardwareText(packet.senderHardware),
    senderAddress: addressFromBytes(packet.senderProtocol),
    targetHardware: hardwareText(packet.targetHardware),
    targetAddress: addressFromBytes(packet.targetProtocol),
  }
}
