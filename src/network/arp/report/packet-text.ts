/** Captured packets as text: a line, a line of fields, and what they mean; or a table of bytes and fields. */
import type { ArpPacket } from '../wire/arp-packet.ts'
import { type EthernetFrame, etherTypes } from '../wire/ethernet-frame.ts'
import { hardwareText, hardwareToBytes, noHardwareAddress } from '../wire/hardware-address.ts'
import { type CapturedArp, hardwareName, protocolName, protocolNumber, protocolText } from './captured-arp.ts'

const operationNames = [
  '',
  'request',
  'reply',
  'RARP request',
  'RARP reply',
  '',
  '',
  '',
  'InARP request',
  'InARP reply',
]

interface Field {
  readonly name: string
  readonly bytes: Buffer
  readonly value: string
  readonly note: string
}

/** The lines of a packet. `isHex` puts the bytes beside the fields. */
export function packetLines(captured: CapturedArp, isHex: boolean): string[] {
  const { timeUs, frame, decoded, kind, meaning, findings } = captured
  const vlan = frame.vlan === undefined ? '' : ` vlan ${frame.vlan}`
  const name = kind ?? ('problem' in decoded ? 'malformed' : 'ARP')
  const where = captured.interface === '' ? '' : ` ${captured.interface}`
  const marks = findings.map(({ kind: mark }) => ` [${mark}]`).join('')
  return [
    `${timeText(timeUs)}${where}${vlan} ${frame.source} > ${destinationText(frame)} ${name}${marks}`,
    ...(isHex ? tableOf(captured) : fieldLine(captured)).map((line) => `  ${line}`),
    `  ${meaning}`,
    ...findings.map(({ kind: mark, message }) => `  ${mark}: ${message}`),
  ]
}

function fieldLine({ decoded }: CapturedArp): string[] {
  if ('problem' in decoded) return []
  const { packet } = decoded
  return [
    fieldsOf(packet)
      .map(({ name, value }) => `${name} ${value}`)
      .join(', '),
  ]
}

function tableOf({ frame, decoded }: CapturedArp): string[] {
  const type = Buffer.alloc(2)
  type.writeUInt16BE(frame.etherType)
  const header = [
    { name: 'DST', bytes: hardwareToBytes(frame.destination), value: frame.destination, note: 'receiver of the frame' },
    { name: 'SRC', bytes: hardwareToBytes(frame.source), value: frame.source, note: 'sender of the frame' },
    { name: 'TYPE', bytes: type, value: protocolNumber(frame.etherType), note: etherTypeName(frame.etherType) },
  ]
  const fields = 'problem' in decoded ? [] : fieldsOf(decoded.packet)
  const end = 'problem' in decoded ? 0 : decoded.size
  const rest = frame.payload.subarray(end)
  const padding = { name: '', bytes: rest, value: '', note: 'problem' in decoded ? 'not decoded' : 'padding' }
  return ['Ethernet', ...rowsOf(header), 'ARP', ...rowsOf([...fields, ...(rest.length > 0 ? [padding] : [])])]
}

/** Captures of all interfaces by tcpdump do not have the receiver. */
const destinationText = ({ destination }: EthernetFrame): string =>
  destination === noHardwareAddress ? '?' : destination

const etherTypeName = (type: number): string =>
  type === etherTypes.arp ? 'ARP' : type === etherTypes.reverseArp ? 'RARP' : 'another protocol'

/** ` 9-14  3a 11 54 e0 7c 01  SHA  3a:11:54:e0:7c:01  hardware address of the sender`: bytes are counted from 1. */
function rowsOf(fields: readonly Field[]): string[] {
  let at = 1
  return fields.map(({ name, bytes, value, note }) => {
    const last = at + bytes.length - 1
    const place = last === at ? `${at}` : `${at}-${last}`
    at = last + 1
    const hex = hardwareText(bytes).replaceAll(':', ' ')
    const columns = [place.padStart(5), hex.padEnd(17), name.padEnd(5), value.padEnd(17), note]
    return columns.join('  ').trimEnd()
  })
}

/** The fields of a packet in their order (RFC 826). */
function fieldsOf(packet: ArpPacket): Field[] {
  const { hardwareType, protocolType, operation, senderHardware, senderProtocol, targetHardware, targetProtocol } =
    packet
  const number = (value: number, size: 1 | 2): Buffer => {
    const bytes = Buffer.alloc(size)
    bytes.writeUIntBE(value, 0, size)
    return bytes
  }
  const [hlen, plen] = [senderHardware.length, senderProtocol.length]
  return [
    { name: 'HTYPE', bytes: number(hardwareType, 2), value: `${hardwareType}`, note: hardwareName(hardwareType) },
    {
      name: 'PTYPE',
      bytes: number(protocolType, 2),
      value: protocolNumber(protocolType),
      note: protocolName(protocolType),
    },
    { name: 'HLEN', bytes: number(hlen, 1), value: `${hlen}`, note: 'bytes of a hardware address' },
    { name: 'PLEN', bytes: number(plen, 1), value: `${plen}`, note: 'bytes of a protocol address' },
    {
      name: 'OP',
      bytes: number(operation, 2),
      value: `${operation}`,
      note: operationNames[operation] || 'another operation',
    },
    address('SHA', senderHardware, hardwareText(senderHardware), 'hardware address of the sender'),
    address('SPA', senderProtocol, protocolText(senderProtocol), 'protocol address of the sender'),
    address('THA', targetHardware, hardwareText(targetHardware), 'hardware address of the target'),
    address('TPA', targetProtocol, protocolText(targetProtocol), 'protocol address of the target'),
  ]
}

const address = (name: string, bytes: Buffer, value: string, note: string): Field => ({ name, bytes, value, note })

/** `17:20:01.123456`, in the time zone of the process. */
function timeText(timeUs: number): string {
  const time = new Date(timeUs / 1000)
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => `${part}`.padStart(2, '0'))
  return `${parts.join(':')}.${`${timeUs % 1e6}`.padStart(6, '0')}`
}

/** A packet as an object, with the names of RFC 826. */
export function packetObject({ timeUs, frame, decoded, kind, meaning, findings, ...rest }: CapturedArp): object {
  const { payload: _, ...header } = frame
  const base = { time: new Date(timeUs / 1000).toISOString(), interface: rest.interface, ethernet: header }
  if ('problem' in decoded) return { ...base, problem: decoded.problem, findings }
  const { packet } = decoded
  const arp = {
    htype: packet.hardwareType,
    ptype: packet.protocolType,
    hlen: packet.senderHardware.length,
    plen: packet.senderProtocol.length,
    op: packet.operation,
    sha: hardwareText(packet.senderHardware),
    spa: protocolText(packet.senderProtocol),
    tha: hardwareText(packet.targetHardware),
    tpa: protocolText(packet.targetProtocol),
  }
  return { ...base, arp, ...(kind && { kind }), meaning, findings }
}
