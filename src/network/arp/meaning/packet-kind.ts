/** The kinds of ARP packets: what a sender wants with one. */
import { type Ipv4Arp, operations } from '../wire/arp-packet.ts'
import { broadcastAddress, noHardwareAddress } from '../wire/hardware-address.ts'

export type PacketKind =
  | 'request'
  | 'unicast request'
  | 'probe'
  | 'announcement'
  | 'reply'
  | 'gratuitous reply'
  | 'RARP request'
  | 'RARP reply'
  | 'InARP request'
  | 'InARP reply'
  | 'ARP NAK'
  | 'unknown operation'

export const noAddress = '0.0.0.0'

/** Returns the kind of a packet in a frame with this destination; zeros if the capture does not have it. */
export function packetKind(arp: Ipv4Arp, destination: string): PacketKind {
  switch (arp.operation) {
    case operations.request:
      if (arp.senderAddress === noAddress) return 'probe'
      if (arp.senderAddress === arp.targetAddress) return 'announcement'
      return destination === broadcastAddress || destination === noHardwareAddress ? 'request' : 'unicast request'
    case operations.reply:
      return arp.senderAddress === arp.targetAddress || destination === broadcastAddress ? 'gratuitous reply' : 'reply'
    case operations.reverseRequest:
      return 'RARP request'
    case operations.reverseReply:
      return 'RARP reply'
    case operations.inverseRequest:
      return 'InARP request'
    case operations.inverseReply:
      return 'InARP reply'
    case operations.negative:
      return 'ARP NAK'
    default:
      return 'unknown operation'
  }
}

/** Returns a sentence about a packet (RFC 826, 903, 2390, 5227). */
export function packetMeaning(arp: Ipv4Arp, kind: PacketKind): string {
  const { senderHardware, senderAddress, targetHardware, targetAddress } = arp
  const sender = `${senderAddress} at ${senderHardware}`
  switch (kind) {
    case 'request':
      return `${sender} asks all hosts for the hardware address of ${targetAddress}.`
    case 'unicast request':
      return `${sender} asks ${targetAddress} whether it still has its hardware address.`
    case 'probe':
      return `${senderHardware} checks that no host has ${targetAddress}; without a sender's address, no cache changes.`
    case 'announcement':
      return `${senderHardware} announces that it has ${senderAddress}; caches are updated, nobody answers.`
    case 'reply':
      return `${senderAddress} is at ${senderHardware}; the answer goes to ${targetAddress}.`
    case 'gratuitous reply':
      return `${senderHardware} announces to all that it has ${senderAddress}, in the form of a reply.`
    case 'RARP request':
      return `${senderHardware} asks for the IP address of ${targetHardware}.`
    case 'RARP reply':
      return `${sender} answers: ${targetHardware} has the IP address ${targetAddress}.`
    case 'InARP request':
      return `${sender} asks for the IP address of the peer of its circuit, ${targetHardware}.`
    case 'InARP reply':
      return `The peer of the circuit, ${senderHardware}, has the IP address ${senderAddress}.`
    case 'ARP NAK':
      return `${sender} cannot answer ${targetAddress}.`
    case 'unknown operation':
      return `The operation ${arp.operation} has no meaning for hosts.`
    default:
      return kind satisfies never
  }
}
