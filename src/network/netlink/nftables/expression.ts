/**
 * The parts of expressions of rules. An expression has its text in the syntax of `nft`, for logs and errors, and
 * its bytes for the kernel (linux/netfilter/nf_tables.h).
 */
import { nested, text } from '../message.ts'
import { dataValue, number32 } from './attributes.ts'
import { type DataType, dataTypes, padded, type Verdict } from './values.ts'

/** A set that exists for one rule only: the kernel removes it with the rule. */
export interface AnonymousSet {
  readonly kind: 'map' | 'verdict-map' | 'intervals'
  readonly keyType: DataType
  readonly dataTypes: readonly DataType[]
  readonly elements: readonly AnonymousElement[]
}

export interface AnonymousElement {
  readonly key: Buffer
  readonly data?: Buffer
  readonly verdict?: Verdict
  /** The first value after an interval. */
  readonly isIntervalEnd?: boolean
}

/** Creates an anonymous set in the same transaction; returns its name. */
export type AddSet = (set: AnonymousSet) => string

export interface Expression {
  readonly text: string
  readonly encode: (addSet: AddSet) => readonly Buffer[]
}

/** NFT_REG32_00; a register has four bytes. NFT_REG_VERDICT is 0. */
export const firstRegister = 8
export const verdictRegister = 0

/** An expression with its name and attributes, as an element of a rule's list. */
export const named = (name: string, ...attributes: readonly Buffer[]): Buffer =>
  nested(1, text(1, name), nested(2, ...attributes))

/** A field of a packet or of its metadata, which a rule loads into registers. */
export interface Selector {
  readonly text: string
  readonly type: DataType
  readonly load: (register: number) => Buffer
}

export const metaKeys = { mark: 3, iifname: 6, l4proto: 16 } as const
export const loadMeta = (key: keyof typeof metaKeys, register: number): Buffer =>
  named('meta', number32(2, metaKeys[key]), number32(1, register))

const bases = { network: 1, transport: 2 } as const
const loadPayload = (base: keyof typeof bases, offset: number, length: number, register: number): Buffer =>
  named('payload', number32(1, register), number32(2, bases[base]), number32(3, offset), number32(4, length))

const addressOffsets = { 4: { saddr: 12, daddr: 16 }, 6: { saddr: 8, daddr: 24 } } as const

export function addressSelector(family: 4 | 6, field: 'saddr' | 'daddr'): Selector {
  const type = family === 4 ? dataTypes.ipv4Address : dataTypes.ipv6Address
  const offset = addressOffsets[family][field]
  const load = (register: number): Buffer => loadPayload('network', offset, type.length, register)
  return { text: `${family === 4 ? 'ip' : 'ip6'} ${field}`, type, load }
}

export const protocolSelector: Selector = {
  text: 'meta l4proto',
  type: dataTypes.protocol,
  load: (register) => loadMeta('l4proto', register),
}

export const portSelector: Selector = {
  text: 'th dport',
  type: dataTypes.port,
  load: (register) => loadPayload('transport', 2, 2, register),
}

export const icmpv6TypeSelector: Selector = {
  text: 'icmpv6 type',
  type: dataTypes.icmpv6Type,
  load: (register) => loadPayload('transport', 0, 1, register),
}

export function loadAll(selectors: readonly Selector[]): Buffer[] {
  let register = firstRegister
  return selectors.map(({ type, load }) => {
    const loaded = load(register)
    register += padded(type.length) / 4
    return loaded
  })
}

export const selectorsText = (selectors: readonly Selector[]): string => selectors.map(({ text }) => text).join(' . ')

const operators = { '==': 0, '!=': 1 } as const

export const compare = (operator: keyof typeof operators, value: Buffer): Buffer =>
  named('cmp', number32(1, firstRegister), number32(2, operators[operator]), dataValue(3, value))

/** Registers have numbers in the order of the machine. */
export function hostNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}

export const bitwise = (mask: Buffer, xor: Buffer): Buffer =>
  named(
    'bitwise',
    number32(1, firstRegister),
    number32(2, firstRegister),
    number32(3, mask.length),
    dataValue(4, mask),
    dataValue(5, xor),
  )

/** As `nft` prints marks. */
export const markText = (mark: number): string => `0x${mark.toString(16).padStart(8, '0')}`
