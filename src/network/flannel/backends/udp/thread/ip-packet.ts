/** Fields of IPv4 packets that the backend udp reads and changes (RFC 791, 792, 1624). */

/** Bytes of the shortest header. */
export const shortestHeader = 20

const icmp = 1
const unreachable = { type: 3, network: 0 } as const
/** Bytes of an ICMP header, and of the original packet after its IP header. */
const icmpSizes = { header: 8, original: 8 } as const
/** Of errors. */
const ttlOfErrors = 8

/** True for a packet of IPv4 with a whole header. */
export function isIPv4Packet(bytes: Buffer, at: number, size: number): boolean {
  return size >= shortestHeader && bytes[at]! >> 4 === 4
}

/** The destination as a number. */
export const destinationOf = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at + 16)

/** Lowers the time to live, and corrects the checksum. False if the packet's time is over: it must be discarded. */
export function decrementTtl(bytes: Buffer, at: number): boolean {
  const ttl = bytes[at + 8]!
  if (ttl <= 1) return false
  bytes[at + 8] = ttl - 1
  const sum = ((bytes[at + 10]! << 8) | bytes[at + 11]!) + 0x100
  const folded = sum >= 0xffff ? sum - 0xffff : sum
  bytes[at + 10] = folded >> 8
  bytes[at + 11] = folded & 0xff
  return true
}

/**
 * The ICMP error “network unreachable” about a packet. Undefined for packets that get no error: ICMP itself, fragments
 * but the first, and broken ones. It comes from the packet's destination: Linux discards packets from addresses of its
 * own, and those whose sender is not behind the device.
 */
export function netUnreachable(packet: Buffer): Buffer | undefined {
  const headerSize = (packet[0]! & 0xf) * 4
  const isLaterFragment = (packet.readUInt16BE(6) & 0x1fff) !== 0
  const quoted = headerSize + icmpSizes.original
  if (headerSize < shortestHeader || packet[9] === icmp || isLaterFragment || packet.length < quoted) return undefined
  const error = Buffer.alloc(shortestHeader + icmpSizes.header + quoted)
  error[0] = 0x45
  error.writeUInt16BE(error.length, 2)
  error[8] = ttlOfErrors
  error[9] = icmp
  packet.copy(error, 12, 16, 20)
  packet.copy(error, 16, 12, 16)
  error.writeUInt16BE(checksum(error.subarray(0, shortestHeader)), 10)
  const message = error.subarray(shortestHeader)
  message[0] = unreachable.type
  message[1] = unreachable.network
  packet.copy(message, icmpSizes.header, 0, quoted)
  message.writeUInt16BE(checksum(message), 2)
  return error
}

/** The checksum of the internet (RFC 1071) of an even number of bytes. */
export function checksum(bytes: Buffer): number {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}
