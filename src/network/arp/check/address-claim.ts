/** The address that a host has or wants, as a frame of ARP or of neighbours of IPv6 says. */
import { noAddress } from '../meaning/packet-kind.ts'
import { arpOf, operations } from '../wire/arp-packet.ts'
import { decodeFrame, etherTypes } from '../wire/ethernet-frame.ts'
import { decodeNeighbourMessage } from '../wire/neighbour-message.ts'

export interface AddressClaim {
  readonly address: string
  readonly hardware: string
}

/** Returns undefined for frames that claim nothing. */
export function claimOf(bytes: Buffer): AddressClaim | undefined {
  const frame = decodeFrame(bytes)
  if (frame?.etherType === etherTypes.ipv6) return decodeNeighbourMessage(bytes)
  if (frame?.etherType !== etherTypes.arp) return undefined
  const arp = arpOf(frame.payload)
  if (!arp || (arp.operation !== operations.request && arp.operation !== operations.reply)) return undefined
  // A probe wants its target.
  const address = arp.senderAddress === noAddress ? arp.targetAddress : arp.senderAddress
  return { address, hardware: arp.senderHardware }
}
