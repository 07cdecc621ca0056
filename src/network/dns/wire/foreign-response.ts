/** Reads responses of other servers: as much as caches and aliases need. */
import { addressAt, parseCidr } from '../../../lib/cidr.ts'
import { readName } from './names.ts'
import { headerBytes, headerFlags, rcodes, types } from './record-types.ts'
import type { DnsRecord } from './response.ts'

interface ForeignRecord {
  readonly section: 'answer' | 'authority' | 'additional'
  readonly labels: readonly string[]
  readonly type: number
  readonly ttl: number
  /** The offset of the TTL. */
  readonly ttlAt: number
  readonly dataAt: number
  readonly dataEnd: number
}

export interface ForeignResponse {
  readonly rcode: number
  readonly isTruncated: boolean
  /** Offsets of all TTLs. */
  readonly ttlOffsets: readonly number[]
  /** Seconds for which the response holds; 0: it must not be cached. */
  readonly ttl: number
  /** Aliases and addresses of the answer, in its order. */
  readonly addresses: readonly DnsRecord[]
}

const sections = ['answer', 'authority', 'additional'] as const

/** @throws a RangeError if the message is damaged. */
export function readForeignResponse(message: Buffer): ForeignResponse {
  const flags = message.readUInt16BE(2)
  const records = [...readRecords(message)].filter(({ type }) => type !== types.OPT)
  return {
    rcode: flags & 15,
    isTruncated: (flags & headerFlags.truncated) !== 0,
    ttlOffsets: records.map(({ ttlAt }) => ttlAt),
    ttl: ttlOf(message, flags & 15, records),
    addresses: records.flatMap((record) => (record.section === 'answer' ? recordOf(message, record) : [])),
  }
}

function* readRecords(message: Buffer): Generator<ForeignRecord> {
  let at = headerBytes
  for (let i = message.readUInt16BE(4); i > 0; i--) at = readName(message, at).end + 4
  for (const [index, section] of sections.entries())
    for (let i = message.readUInt16BE(6 + 2 * index); i > 0; i--) {
      const { labels, end } = readName(message, at)
      const dataAt = end + 10
      const dataEnd = dataAt + message.readUInt16BE(end + 8)
      if (dataEnd > message.length) throw new RangeError('a record leaves the message')
      const ttl = message.readUInt32BE(end + 4)
      yield { section, labels, type: message.readUInt16BE(end), ttl, ttlAt: end + 4, dataAt, dataEnd }
      at = dataEnd
    }
}

/** Names and types that do not exist hold for the time in the record of the authority (RFC 2308). */
function ttlOf(message: Buffer, rcode: number, records: readonly ForeignRecord[]): number {
  if (rcode !== rcodes.NOERROR && rcode !== rcodes.NXDOMAIN) return 0
  const answers = records.filter(({ section }) => section === 'answer')
  if (rcode === rcodes.NOERROR && answers.length > 0) return Math.min(...records.map(({ ttl }) => ttl))
  const authority = records.find(({ section, type }) => section === 'authority' && type === types.SOA)
  return authority ? Math.min(authority.ttl, message.readUInt32BE(authority.dataEnd - 4)) : 0
}

function recordOf(message: Buffer, { labels, type, ttl, dataAt, dataEnd }: ForeignRecord): DnsRecord[] {
  const name = labels.join('.')
  if (type === types.CNAME) return [{ type: 'CNAME', target: readName(message, dataAt).labels.join('.'), name, ttl }]
  const data = message.subarray(dataAt, dataEnd)
  if (type === types.A && data.length === 4) return [{ type: 'A', address: data.join('.'), name, ttl }]
  if (type === types.AAAA && data.length === 16) return [{ type: 'AAAA', address: ipv6Text(data), name, ttl }]
  return []
}

function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16))
  return addressAt(parseCidr(`${groups.join(':')}/128`)!, 0)
}
