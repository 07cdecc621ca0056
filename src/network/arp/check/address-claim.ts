/** The address that a host has or wants, as a frame of ARP or of neighbours of IPv6 says. */
import { noAddress } from '../meaning/packet-kind.ts'
import { arpOf, operations } from '../wire/arp-packet.ts'
import { decodeFrame, etherTypes } from '../wire/ethernet-frame.ts'
import { decodeNeighbourMessage } from '../wire/neighbour-message.ts'

export interface AddressClaim {
  readonly address: string
  readonly hardware: string
  /** True if the host wants the address, and does not use it yet (RFC 5227, section 2.1; RFC 4862, section 5.4). */
  readonly isProbe: boolean
}

/** Returns undefined for frames that claim nothing. */
export function claimOf(bytes: Buffer): AddressClaim | undefined {
  const frame = decodeFrame(bytes)
  if (frame?.etherType === etherTypes.ipv6) {
    const message = decodeNeighbourMessage(bytes)
    return message && { address: message.address, hardware: message.hardware, isProbe: message.kind === 'search' }
  }
  if (frame?.etherType !== etherTypes.arp) return undefined
  const arp = arpOf(frame.payload)
  if (!arp || (arp.operation !== operations.request && arp.operation !== operations.reply)) return undefined
  const isProbe = arp.senderAddress === noAddress
  return { address: isProbe ? arp.targetAddress : arp.senderAddress, hardware: arp.senderHardware, isProbe }
}
