/** Frames of capture files: pcap and pcapng, as tcpdump and Wireshark write them. */

import type { CapturedFrame } from '../report/captured-arp.ts'
import type { EthernetFrame } from '../wire/ethernet-frame.ts'
import { etherTypes } from '../wire/ethernet-frame.ts'
import { broadcastAddress, hardwareText, noHardwareAddress } from '../wire/hardware-address.ts'
import { ByteReader } from './byte-reader.ts'

/** Types of links: Ethernet, and the two headers of captures of all interfaces. */
const linkTypes = { ethernet: 1, cooked: 113, cooked2: 276 } as const
/** Larger records are errors of the file. */
const maxRecord = 1 << 24
const sectionBlock = 0x0a0d0d0a
const blocks = { interface: 1, simple: 3, enhanced: 6 } as const
const options = { name: 2, resolution: 9 } as const

interface Format {
  readonly isLittle: boolean
  /** Units of the second half of a time in a second. */
  readonly unitsPerSecond: number
}

interface CaptureInterface {
  readonly linkType: number
  readonly name: string
  readonly unitsPerSecond: number
}

const magics: ReadonlyMap<string, Format> = new Map([
  ['d4c3b2a1', { isLittle: true, unitsPerSecond: 1e6 }],
  ['a1b2c3d4', { isLittle: false, unitsPerSecond: 1e6 }],
  ['4d3cb2a1', { isLittle: true, unitsPerSecond: 1e9 }],
  ['a1b23c4d', { isLittle: false, unitsPerSecond: 1e9 }],
])

/** Returns the frames of ARP and RARP in a capture file. @throws for other files, and for one that is cut off. */
export async function* arpFramesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<CapturedFrame> {
  const reader = new ByteReader(stream)
  const magic = await reader.take(4)
  const format = magics.get(magic.toString('hex'))
  if (!format && (magic.length < 4 || magic.readUInt32BE(0) !== sectionBlock))
    throw new Error('it is no capture: use a file of tcpdump -w, or one in the format pcap or pcapng')
  for await (const frame of format ? classicFrames(reader, format) : blockFrames(reader))
    if (isArp(frame.frame)) yield frame
}

function isArp(frame: Buffer | EthernetFrame): boolean {
  if (!Buffer.isBuffer(frame)) return frame.etherType === etherTypes.arp || frame.etherType === etherTypes.reverseArp
  // A tag of a virtual LAN has four bytes.
  const types = [12, 16, 20].filter((at) => frame.length >= at + 2).map((at) => frame.readUInt16BE(at))
  const type = types.find((one) => one !== 0x8100 && one !== 0x88a8)
  return type === etherTypes.arp || type === etherTypes.reverseArp
}

async function* classicFrames(reader: ByteReader, { isLittle, unitsPerSecond }: Format): AsyncGenerator<CapturedFrame> {
  const header = await exactly(reader, 20)
  const linkType = uint32(header, 16, isLittle) & 0xffff
  for (;;) {
    const record = await reader.take(16)
    if (record.length === 0) return
    if (record.length < 16) throw cutOff()
    const size = uint32(record, 8, isLittle)
    const bytes = await exactly(reader, size)
    const units = uint32(record, 4, isLittle)
    const timeUs = uint32(record, 0, isLittle) * 1e6 + Math.floor((units * 1e6) / unitsPerSecond)
    const frame = frameOf(bytes, linkType)
    if (frame) yield { timeUs, interface: interfaceIn(bytes, linkType), frame }
  }
}

/** The type of the first block, a section, was read. */
async function* blockFrames(reader: ByteReader): AsyncGenerator<CapturedFrame> {
  let type: number | undefined = sectionBlock
  let isLittle = true
  let interfaces: CaptureInterface[] = []
  while (type !== undefined) {
    const start = await exactly(reader, type === sectionBlock ? 8 : 4)
    if (type === sectionBlock) {
      isLittle = start.readUInt32LE(4) === 0x1a2b3c4d
      interfaces = []
    }
    const size = uint32(start, 0, isLittle)
    // The size counts the type, itself, and its copy at the end.
    const body = await exactly(reader, size - 4 - start.length)
    if (type === blocks.interface) interfaces.push(interfaceOf(body, isLittle))
    const frame = type === blocks.enhanced ? enhancedFrame(body, isLittle, interfaces) : undefined
    if (frame) yield frame
    if (type === blocks.simple)
      throw new Error('its packets have no times (simple blocks of pcapng): save the capture as pcap')
    const next = await reader.take(4)
    if (next.length > 0 && next.length < 4) throw cutOff()
    type = next.length === 0 ? undefined : uint32(next, 0, isLittle)
  }
}

function interfaceOf(body: Buffer, isLittle: boolean): CaptureInterface {
  const found = optionsOf(body.subarray(8, -4), isLittle)
  const resolution = found.get(options.resolution)?.[0] ?? 6
  return {
    linkType: isLittle ? body.readUInt16LE(0) : body.readUInt16BE(0),
    name: found.get(options.name)?.toString('utf8').replace(/\0+$/, '') ?? '',
    unitsPerSecond: resolution & 0x80 ? 2 ** (resolution & 0x7f) : 10 ** resolution,
  }
}

function optionsOf(bytes: Buffer, isLittle: boolean): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>()
  for (let at = 0; at + 4 <= bytes.length; ) {
    const [code, size] = [at, at + 2].map((one) => (isLittle ? bytes.readUInt16LE(one) : bytes.readUInt16BE(one)))
    if (code === 0) break
    found.set(code!, bytes.subarray(at + 4, at + 4 + size!))
    at += 4 + ((size! + 3) & ~3)
  }
  return found
}

function enhancedFrame(
  body: Buffer,
  isLittle: boolean,
  interfaces: readonly CaptureInterface[],
): CapturedFrame | undefined {
  const link = interfaces[uint32(body, 0, isLittle)]
  if (!link) throw new Error('a packet names an interface that the file does not have')
  const units = uint32(body, 4, isLittle) * 2 ** 32 + uint32(body, 8, isLittle)
  const bytes = body.subarray(20, 20 + uint32(body, 12, isLittle))
  const frame = frameOf(bytes, link.linkType)
  const name = interfaceIn(bytes, link.linkType) || link.name
  return frame && { timeUs: Math.floor((units / link.unitsPerSecond) * 1e6), interface: name, frame }
}

/** Returns undefined for a frame of another kind of link. */
function frameOf(bytes: Buffer, linkType: number): Buffer | EthernetFrame | undefined {
  switch (linkType) {
    case linkTypes.ethernet:
      return bytes
    case linkTypes.cooked:
      return bytes.length < 16 ? undefined : cooked(bytes, 1, 6, 14, 16)
    case linkTypes.cooked2:
      return bytes.length < 20 ? undefined : cooked(bytes, 10, 12, 0, 20)
    default:
      return undefined
  }
}

/** The second header of captures of all interfaces has the index of the interface. */
const interfaceIn = (bytes: Buffer, linkType: number): string =>
  linkType === linkTypes.cooked2 && bytes.length >= 8 ? `if${bytes.readUInt32BE(4)}` : ''

/** Such headers have no destination, but say if the frame went to all. Arguments are the places of their fields. */
function cooked(bytes: Buffer, packetType: number, address: number, type: number, size: number): EthernetFrame {
  const isBroadcast = bytes[packetType] === 1
  return {
    destination: isBroadcast ? broadcastAddress : noHardwareAddress,
    source: hardwareText(bytes.subarray(address, address + 6)),
    etherType: bytes.readUInt16BE(type),
    payload: bytes.subarray(size),
  }
}

async function exactly(reader: ByteReader, size: number): Promise<Buffer> {
  if (size < 0 || size > maxRecord) throw new Error(`it is damaged: a record has the size ${size}`)
  const bytes = await reader.take(size)
  if (bytes.length < size) throw cutOff()
  return bytes
}

const cutOff = (): Error => new Error('it is cut off: its last record is not complete')

const uint32 = (bytes: Buffer, at: number, isLittle: boolean): number =>
  isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)
