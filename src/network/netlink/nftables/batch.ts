/** A transaction of nftables as one netlink message: the kernel applies all of its changes, or none. */
import { attribute, flags as messageFlags, nested, sizeOf, text } from '../message.ts'
import { dataValue, dataVerdict, list, number32, userData } from './attributes.ts'
import type { AnonymousElement, AnonymousSet } from './expression.ts'
import { concatenatedType, keyLength } from './values.ts'

/** NFNL_SUBSYS_NFTABLES and its messages. */
const subsystem = 10
const wholeSubsystem = Buffer.from([0, 0, 0, subsystem])
const typeOf = (number: number): number => (subsystem << 8) | number
export const types = {
  newTable: typeOf(0),
  deleteTable: typeOf(2),
  newChain: typeOf(3),
  getChain: typeOf(4),
  deleteChain: typeOf(5),
  newRule: typeOf(6),
  deleteRule: typeOf(8),
  newSet: typeOf(9),
  getSet: typeOf(10),
  deleteSet: typeOf(11),
  newElement: typeOf(12),
  deleteElement: typeOf(14),
} as const

export const flags = { create: messageFlags.create, append: 0x800 } as const

const batchTypes = { begin: 0x10, end: 0x11 } as const
const familyNumbers = { 4: 2, 6: 10 } as const

/** The fixed part of messages of netfilter: family, version, and in batches the subsystem. */
export const fixedPart = (family: 4 | 6): Buffer => Buffer.from([familyNumbers[family], 0, 0, 0])

const anonymousFlags = { anonymous: 0x1, constant: 0x2, interval: 0x4, map: 0x8 } as const
const verdictType = 0xffffff00
const intervalEnd = 1

/** BYTEORDER_HOST_ENDIAN and BYTEORDER_BIG_ENDIAN of nft. */
const byteOrders = { host: 1, network: 2 } as const

const headerSize = 16
const firstSize = 64 * 1024

export class Batch {
  readonly table: string
  readonly #fixed: Buffer
  readonly #commands: number[] = []
  readonly #nextName: () => string
  #bytes = Buffer.allocUnsafe(firstSize)
  #size = 0
  #lastAt = 0
  #command = 0
  #setId = 0

  /** `nextName` returns a name that no set of the table has. */
  constructor(family: 4 | 6, table: string, nextName: () => string) {
    this.table = table
    this.#fixed = fixedPart(family)
    this.#nextName = nextName
    this.#append(batchTypes.begin, 0, 0, [wholeSubsystem])
  }

  /** The following messages belong to this command. */
  beginCommand(index: number): void {
    this.#command = index
  }

  /** Identifies a new set in its transaction. */
  nextSetId(): number {
    return ++this.#setId
  }

  add(type: number, flagBits: number, attributes: readonly Buffer[]): void {
    this.#commands.push(this.#command)
    this.#append(type, flagBits, this.#commands.length, [this.#fixed, ...attributes])
  }

  /** Adds a set for the next rule; returns its name. */
  addAnonymousSet(set: AnonymousSet): string {
    const name = this.#nextName()
    this.add(types.newSet, flags.create | messageFlags.exclusive, anonymousSet(this, name, set))
    const elements = list(3, set.elements.map(anonymousElement))
    this.add(types.newElement, flags.create, [text(1, this.table), text(2, name), elements])
    return name
  }

  /** The bytes; the kernel acknowledges the last message. */
  encode(): Buffer {
    const flagsAt = this.#lastAt + 6
    this.#bytes.writeUInt16LE(this.#bytes.readUInt16LE(flagsAt) | messageFlags.ack, flagsAt)
    this.#append(batchTypes.end, 0, this.#commands.length + 1, [wholeSubsystem])
    return this.#bytes.subarray(0, this.#size)
  }

  /** The index of the command to which the answer of the kernel belongs. */
  commandOf(sequence: number): number | undefined {
    return this.#commands[sequence - 1]
  }

  /** Bodies have multiples of four bytes. */
  #append(type: number, flagBits: number, sequence: number, parts: readonly Buffer[]): void {
    const size = headerSize + sizeOf(parts)
    if (this.#size + size > this.#bytes.length) this.#grow(size)
    this.#lastAt = this.#size
    let at = this.#bytes.writeUInt32LE(size, this.#size)
    at = this.#bytes.writeUInt16LE(type, at)
    at = this.#bytes.writeUInt16LE(messageFlags.request | flagBits, at)
    at = this.#bytes.writeUInt32LE(sequence, at)
    at = this.#bytes.writeUInt32LE(0, at)
    for (const part of parts) at += part.copy(this.#bytes, at)
    this.#size = at
  }

  #grow(size: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#size + size))
    this.#bytes.copy(bytes, 0, 0, this.#size)
    this.#bytes = bytes
  }
}

function anonymousSet(batch: Batch, name: string, { kind, keyType, dataTypes, elements }: AnonymousSet): Buffer[] {
  const { anonymous, constant, interval, map } = anonymousFlags
  const kindFlag = kind === 'intervals' ? interval : map
  const dataType = kind === 'verdict-map' ? verdictType : concatenatedType(dataTypes)
  const keyOrder = kind === 'intervals' ? byteOrders.network : byteOrders.host
  const orders = [
    userData(0, Buffer.from([keyOrder, 0, 0, 0])),
    userData(1, Buffer.from([byteOrders.network, 0, 0, 0])),
  ]
  return [
    text(1, batch.table),
    text(2, name),
    number32(3, anonymous | constant | kindFlag),
    number32(4, keyType.number),
    number32(5, keyType.length),
    ...(kind === 'intervals' ? [] : [number32(6, dataType), number32(7, keyLength(dataTypes))]),
    nested(9, number32(1, elements.length)),
    number32(10, batch.nextSetId()),
    attribute(13, Buffer.concat(orders)),
  ]
}

const anonymousElement = ({ key, data, verdict, isIntervalEnd }: AnonymousElement): Buffer =>
  Buffer.concat([
    dataValue(1, key),
    ...(data ? [dataValue(2, data)] : []),
    ...(verdict ? [dataVerdict(2, verdict)] : []),
    ...(isIntervalEnd ? [number32(3, intervalEnd)] : []),
  ])
