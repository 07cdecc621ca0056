/** Frames of Ethernet: header and payload (IEEE 802.3), with the tags of virtual LANs (802.1Q). */
import { hardwareText, hardwareToBytes } from './hardware-address.ts'

export const etherTypes = { ipv4: 0x0800, arp: 0x0806, reverseArp: 0x8035, ipv6: 0x86dd } as const

const tagTypes: readonly number[] = [0x8100, 0x88a8]
const tagSize = 4
export const ethernetHeaderSize = 14

export interface EthernetFrame {
  readonly destination: string
  readonly source: string
  readonly etherType: number
  /** Number of the virtual LAN, if the frame has a tag. */
  readonly vlan?: number
  readonly payload: Buffer
}

export function encodeFrame({ destination, source, etherType, payload }: Omit<EthernetFrame, 'vlan'>): Buffer {
  const type = Buffer.alloc(2)
  type.writeUInt16BE(etherType)
  return Buffer.concat([hardwareToBytes(destination), hardwareToBytes(source), type, payload])
}

/** Returns undefined for bytes that are shorter than a header. */
export function decodeFrame(bytes: Buffer): EthernetFrame | undefined {
  if (bytes.length < ethernetHeaderSize) return undefined
  let at = ethernetHeaderSize
  let etherType = bytes.readUInt16BE(at - 2)
  let vlan: number | undefined
  while (tagTypes.includes(etherType) && bytes.length >= at + tagSize) {
    vlan ??= bytes.readUInt16BE(at) & 0x0fff
    etherType = bytes.readUInt16BE(at + 2)
    at += tagSize
  }
  return {
    destination: hardwareText(bytes.subarray(0, 6)),
    source: hardwareText(bytes.subarray(6, 12)),
    etherType,
    ...(vlan === undefined ? {} : { vlan }),
    payload: bytes.subarray(at),
  }
}
