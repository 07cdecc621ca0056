/** Writes responses: names that occur before are pointers, and what does not fit is left out. */
import { isIP } from 'node:net'
import { parseCidr } from '../../../lib/cidr.ts'
import { labelsOf } from './names.ts'
import type { Edns, Query, Refused } from './query.ts'
import { classes, headerBytes, headerFlags, types } from './record-types.ts'

/** The data of a record. Names are dotted, without a dot at the end. */
export type RecordData =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'CNAME' | 'PTR' | 'NS'; readonly target: string }
  | {
      readonly type: 'SRV'
      readonly priority: number
      readonly weight: number
      readonly port: number
      readonly target: string
    }
  | { readonly type: 'TXT'; readonly text: string }
  | {
      readonly type: 'SOA'
      readonly server: string
      readonly mailbox: string
      readonly serial: number
      /** Seconds for which clients remember that a name does not exist. */
      readonly minimum: number
    }

export type DnsRecord = RecordData & {
  readonly name: string
  /** Seconds. */
  readonly ttl: number
}

export interface ResponseContent {
  readonly rcode: number
  readonly isAuthoritative: boolean
  readonly answers: readonly DnsRecord[]
  readonly authority?: readonly DnsRecord[]
  readonly additional?: readonly DnsRecord[]
}

/** Bytes of a response by UDP that clients without an extension take. */
const plainLimit = 512
/** The size that this server offers, as the flag day of 2020 recommends: it passes all networks in one packet. */
const ownSize = 1232
/** Bytes of a response by TCP. */
export const streamLimit = 65_535

/** The bytes of a response by UDP. */
export const datagramLimit = ({ edns }: Query): number => (edns ? Math.min(edns.size, ownSize) : plainLimit)
const optBytes = 11

const ednsRcode = (rcode: number): number => rcode >> 4

/** Writes a response of at most `limit` bytes; sets the bit `truncated` if answers are missing. */
export function encodeResponse(query: Query, content: ResponseContent, limit: number): Buffer {
  const { answers, authority = [], additional = [] } = content
  const writer = new MessageWriter(query, limit - (query.edns ? optBytes : 0))
  const written = [answers, authority, additional].map((records) => writer.addAll(records))
  const isTruncated = written[0]! < answers.length
  const flags = (content.isAuthoritative ? headerFlags.authoritative : 0) | (isTruncated ? headerFlags.truncated : 0)
  return writer.finish(query.edns, flags, content.rcode, written)
}

/** The response to a message that is refused without a look at its name. */
export function encodeRefusal({ id, flags, rcode }: Refused): Buffer {
  const needsEdns = rcode > 15
  const header = Buffer.alloc(headerBytes + (needsEdns ? optBytes : 0))
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE(headerFlags.response | (flags & 0x7900) | (rcode & 15), 2)
  if (needsEdns) {
    header.writeUInt16BE(1, 10)
    writeOpt(header, headerBytes, rcode, false)
  }
  return header
}

function writeOpt(message: Buffer, at: number, rcode: number, wantsSignatures: boolean): void {
  message.writeUInt16BE(types.OPT, at + 1)
  message.writeUInt16BE(ownSize, at + 3)
  message[at + 5] = ednsRcode(rcode)
  message.writeUInt16BE(wantsSignatures ? 0x8000 : 0, at + 7)
}

/** Refresh, retry and expiry of a zone, in seconds: secondary servers would use them. */
const zoneTimers = [7200, 1800, 86_400] as const

const kept = headerFlags.recursionDesired | headerFlags.checkingDisabled

class MessageWriter {
  readonly #query: Query
  readonly #limit: number
  #bytes: Buffer
  #at: number
  /** Offsets of names, in lower case. */
  readonly #names = new Map<string, number>()

  constructor(query: Query, limit: number) {
    this.#query = query
    this.#limit = limit
    this.#bytes = Buffer.alloc(Math.min(limit, 4096) + optBytes)
    this.#at = headerBytes + query.question.copy(this.#bytes, headerBytes)
    let at = headerBytes
    for (const [index, label] of query.labels.entries()) {
      this.#names.set(query.labels.slice(index).join('.'), at)
      at += label.length + 1
    }
  }

  /** Adds records until one does not fit; returns how many were added. */
  addAll(records: readonly DnsRecord[]): number {
    let count = 0
    for (const record of records) {
      const start = this.#at
      this.#record(record)
      if (this.#at > this.#limit) {
        this.#at = start
        for (const [name, offset] of this.#names) if (offset >= start) this.#names.delete(name)
        break
      }
      count++
    }
    return count
  }

  finish(edns: Edns | undefined, flags: number, rcode: number, counts: readonly number[]): Buffer {
    this.#reserve(optBytes)
    if (edns) {
      this.#bytes.fill(0, this.#at, this.#at + optBytes)
      writeOpt(this.#bytes, this.#at, rcode, edns.wantsSignatures)
      this.#at += optBytes
    }
    const message = this.#bytes.subarray(0, this.#at)
    const { id, flags: asked } = this.#query
    const own = headerFlags.response | headerFlags.recursionAvailable | flags
    const [answers = 0, authority = 0, additional = 0] = counts
    const words = [id, own | (asked & kept) | (rcode & 15), 1, answers, authority, additional + (edns ? 1 : 0)]
    for (const [index, word] of words.entries()) message.writeUInt16BE(word, 2 * index)
    return message
  }

  #record(record: DnsRecord): void {
    this.#name(record.name)
    this.#reserve(10)
    this.#at = this.#bytes.writeUInt16BE(types[record.type], this.#at)
    this.#at = this.#bytes.writeUInt16BE(classes.internet, this.#at)
    this.#at = this.#bytes.writeUInt32BE(record.ttl, this.#at)
    const length = this.#at
    this.#at += 2
    this.#data(record)
    this.#bytes.writeUInt16BE(this.#at - length - 2, length)
  }

  #data(record: RecordData): void {
    if ('address' in record) this.#copy(addressBytes(record.address))
    else if (record.type === 'TXT') this.#copy(textBytes(record.text))
    else if (record.type === 'SRV') {
      this.#numbers(2, record.priority, record.weight, record.port)
      // RFC 2782 forbids a pointer here.
      this.#name(record.target, false)
    } else if (record.type === 'SOA') {
      this.#name(record.server)
      this.#name(record.mailbox)
      this.#numbers(4, record.serial, ...zoneTimers, record.minimum)
    } else this.#name(record.target)
  }

  #name(name: string, isCompressed = true): void {
    const labels = labelsOf(name)
    for (let index = 0; index < labels.length; index++) {
      const rest = labels.slice(index).join('.').toLowerCase()
      const known = isCompressed ? this.#names.get(rest) : undefined
      if (known !== undefined) {
        this.#numbers(2, 0xc000 | known)
        return
      }
      if (!this.#names.has(rest) && this.#at < 0x4000) this.#names.set(rest, this.#at)
      this.#copy(textBytes(labels[index]!))
    }
    this.#copy(Buffer.alloc(1))
  }

  #numbers(bytes: 2 | 4, ...values: readonly number[]): void {
    this.#reserve(bytes * values.length)
    for (const value of values) this.#at = this.#bytes.writeUIntBE(value, this.#at, bytes)
  }

  #copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.alloc(2 * this.#bytes.length + bytes)
    this.#bytes.copy(larger)
    this.#bytes = larger
  }
}

/** A text with its length before it. */
const textBytes = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'latin1').subarray(0, 255)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function addressBytes(address: string): Uint8Array {
  if (isIP(address) === 4) return Uint8Array.from(address.split('.'), Number)
  const value = parseCidr(`${address}/128`)?.base ?? 0n
  return Buffer.from(value.toString(16).padStart(32, '0'), 'hex')
}

/** Makes the bytes of a cached response one for a query that equals the first one but for ID and case. */
export function adaptResponse(message: Buffer, { id, flags, question }: Query): Buffer {
  message.writeUInt16BE(id, 0)
  message.writeUInt16BE((message.readUInt16BE(2) & ~kept) | (flags & kept), 2)
  question.copy(message, headerBytes)
  return message
}

/** A response that is too long for UDP: the client asks by TCP then. */
export function truncatedResponse(message: Buffer, query: Query): Buffer {
  const flags = message.readUInt16BE(2)
  const writer = new MessageWriter(query, plainLimit)
  return writer.finish(query.edns, headerFlags.truncated, flags & 15, [0, 0, 0])
}
