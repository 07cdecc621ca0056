/** A captured frame of ARP with its fields, its kind, its meaning and its findings: text, table of bytes, JSON. */
import { addressFromBytes } from '../../netlink/address-bytes.ts'
import { ArpObserver, type Finding } from '../meaning/arp-observer.ts'
import { type PacketKind, packetKind, packetMeaning } from '../meaning/packet-kind.ts'
import { type ArpPacket, type DecodedArp, decodeArp, ipv4ArpOf, protocolTypes } from '../wire/arp-packet.ts'
import { decodeFrame, type EthernetFrame } from '../wire/ethernet-frame.ts'
import { hardwareText } from '../wire/hardware-address.ts'

/** A frame of a capture, live or from a file. */
export interface CapturedFrame {
  /** Microseconds since 1970. */
  readonly timeUs: number
  /** Name of the interface; empty if the file does not have it. */
  readonly interface: string
  /** A frame of Ethernet; or its parts, if the capture has no header of Ethernet. */
  readonly frame: Buffer | EthernetFrame
}

export interface CapturedArp {
  readonly timeUs: number
  readonly interface: string
  readonly frame: EthernetFrame
  readonly decoded: DecodedArp
  /** Undefined for packets that are malformed, or not for Ethernet and IPv4. */
  readonly kind?: PacketKind
  readonly meaning: string
  readonly findings: readonly Finding[]
}

/** Explains the frames of a capture, in order. Each interface is a segment of its own. */
export class ArpExplainer {
  readonly #observers = new Map<string, ArpObserver>()

  /** The observer of an interface. */
  observerOf(name: string): ArpObserver {
    const observer = this.#observers.get(name) ?? new ArpObserver()
    this.#observers.set(name, observer)
    return observer
  }

  /** Returns undefined for a frame that is too short for a header. */
  explain({ timeUs, interface: name, frame: captured }: CapturedFrame): CapturedArp | undefined {
    const frame = Buffer.isBuffer(captured) ? decodeFrame(captured) : captured
    if (!frame) return undefined
    const decoded = decodeArp(frame.payload)
    const base = { timeUs, interface: name, frame, decoded }
    if ('problem' in decoded) return { ...base, meaning: `Malformed: ${decoded.problem}.`, findings: [] }
    const arp = ipv4ArpOf(decoded.packet)
    if (!arp) return { ...base, meaning: `ARP for ${typesText(decoded.packet)}.`, findings: [] }
    const kind = packetKind(arp, frame.destination)
    const { source, destination } = frame
    const findings = this.observerOf(name).observe({ arp, source, destination, timeMs: timeUs / 1000 })
    return { ...base, kind, meaning: packetMeaning(arp, kind), findings }
  }
}

/** The number of hardware addresses that IANA calls Ethernet, and others that appear on Linux. */
const hardwareNames: ReadonlyMap<number, string> = new Map([
  [1, 'Ethernet'],
  [6, 'IEEE 802'],
  [15, 'Frame Relay'],
  [16, 'ATM'],
  [19, 'ATM'],
  [24, 'IEEE 1394'],
  [32, 'InfiniBand'],
])

export const hardwareName = (type: number): string => hardwareNames.get(type) ?? 'unknown'

export const protocolName = (type: number): string =>
  type === protocolTypes.ipv4 ? 'IPv4' : type === 0x86dd ? 'IPv6' : 'unknown'

/** `0x0800`. */
export const protocolNumber = (type: number): string => `0x${type.toString(16).padStart(4, '0')}`

const typesText = ({ hardwareType, protocolType }: ArpPacket): string =>
  `hardware type ${hardwareType} (${hardwareName(hardwareType)}) and ` +
  `protocol ${protocolNumber(protocolType)} (${protocolName(protocolType)})`

/** The text of a protocol address: of IPv4 and IPv6, else its bytes. */
export const protocolText = (bytes: Buffer): string =>
  bytes.length === 4 || bytes.length === 16 ? addressFromBytes(bytes) : hardwareText(bytes)
