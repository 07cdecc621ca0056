/** Conditions of rules: a rule ends for packets for which one of them is false. */

import { text } from '../message.ts'
import { number32 } from './attributes.ts'
import {
  bitwise,
  compare,
  type Expression,
  firstRegister,
  hostNumber,
  icmpv6TypeSelector,
  loadAll,
  loadMeta,
  markText,
  named,
  type Selector,
  selectorsText,
} from './expression.ts'
import { dataTypes, valueBytes } from './values.ts'

/** True for packets whose fields are in a set of the table. */
export const isInSet = (selectors: readonly Selector[], set: string): Expression => ({
  text: `${selectorsText(selectors)} @${set}`,
  encode: () => [...loadAll(selectors), named('lookup', text(1, set), number32(2, firstRegister))],
})

/** A range of addresses, from the first to the one after the last; undefined: up to the end of the family. */
export interface AddressInterval {
  readonly first: Buffer
  readonly end: Buffer | undefined
}

/** True for packets whose address is in one of the intervals, or with `isNegated`, in none. */
export function isInIntervals(
  selector: Selector,
  label: string,
  intervals: readonly AddressInterval[],
  isNegated: boolean,
): Expression {
  const elements = intervals.flatMap(({ first, end }) => [
    { key: first },
    ...(end ? [{ key: end, isIntervalEnd: true }] : []),
  ])
  const isFromZero = intervals[0]?.first.every((byte) => byte === 0) ?? false
  // As nft does it: what is before the first interval ends nothing, but lookups need a start.
  const start = isFromZero ? [] : [{ key: Buffer.alloc(selector.type.length), isIntervalEnd: true }]
  const set = { kind: 'intervals', keyType: selector.type, dataTypes: [], elements: [...start, ...elements] } as const
  return {
    text: `${selector.text} ${isNegated ? '!= ' : ''}{ ${label} }`,
    encode: (addSet) => {
      const flags = isNegated ? [number32(5, 1)] : []
      const lookup = named('lookup', text(1, addSet(set)), number32(2, firstRegister), ...flags)
      return [selector.load(firstRegister), lookup]
    },
  }
}

/** True for packets whose address has the prefix: `ip saddr 10.244.0.0/16`. */
export function hasPrefix(
  selector: Selector,
  { text: label, address, bits }: { readonly text: string; readonly address: Buffer; readonly bits: number },
  isNegated: boolean,
): Expression {
  const mask = Buffer.from(address.map((_, i) => (0xff << (8 - Math.min(8, Math.max(0, bits - 8 * i)))) & 0xff))
  return {
    text: `${selector.text} ${isNegated ? '!= ' : ''}${label}`,
    encode: () => [
      selector.load(firstRegister),
      bitwise(mask, Buffer.alloc(address.length)),
      compare(isNegated ? '!=' : '==', address),
    ],
  }
}

/** True for packets of a protocol: `tcp`, `udp` or `sctp`. */
export const hasProtocol = (name: string): Expression => ({
  text: `meta l4proto ${name}`,
  encode: () => [loadMeta('l4proto', firstRegister), compare('==', valueBytes(dataTypes.protocol, name))],
})

/** IP protocol 58. */
const icmpv6 = 58
const byte = (value: number): Buffer => Buffer.from([value])

/** Packets by which hosts of a link find each other (RFC 4861) and join groups (RFC 2710, RFC 3810), by ICMPv6 type. */
export const isNeighborDiscovery: Expression = (() => {
  const type = isInIntervals(
    icmpv6TypeSelector,
    '130-136, 143',
    [
      { first: byte(130), end: byte(137) },
      { first: byte(143), end: byte(144) },
    ],
    false,
  )
  return {
    text: `meta l4proto ipv6-icmp ${type.text}`,
    encode: (addSet) => [loadMeta('l4proto', firstRegister), compare('==', byte(icmpv6)), ...type.encode(addSet)],
  }
})()

const interfaceNameSize = 16

/** True for packets that arrived at the interface. A name that ends with `*` stands for all that begin so. */
export function arrivedAt(name: string, isNegated = false): Expression {
  const bytes = Buffer.alloc(interfaceNameSize)
  bytes.write(name)
  const value = name.endsWith('*') ? Buffer.from(name.slice(0, -1)) : bytes
  return {
    text: `iifname ${isNegated ? '!= ' : ''}"${name}"`,
    encode: () => [loadMeta('iifname', firstRegister), compare(isNegated ? '!=' : '==', value)],
  }
}

const loadConnection = (key: number): Buffer => named('ct', number32(1, firstRegister), number32(2, key))
const hasBit = (bit: number): readonly Buffer[] => [
  bitwise(hostNumber(bit), Buffer.alloc(4)),
  compare('!=', Buffer.alloc(4)),
]

/** True for packets of connections that had an answer, and for errors about them. */
export const isKnownConnection: Expression = {
  text: 'ct state established,related',
  encode: () => [loadConnection(0), ...hasBit(6)],
}

/** True for the first packet of a connection. */
export const isNewConnection: Expression = {
  text: 'ct state new',
  encode: () => [loadConnection(0), ...hasBit(8)],
}

/** True for connections whose destination was translated. */
export const hasTranslatedDestination: Expression = {
  text: 'ct status dnat',
  encode: () => [loadConnection(2), ...hasBit(0x20)],
}

const localType = 2

/** True if the packet's address is one of this machine. */
export const isLocalAddress = (field: 'saddr' | 'daddr'): Expression => ({
  text: `fib ${field} type local`,
  encode: () => [
    named('fib', number32(1, firstRegister), number32(2, 3), number32(3, field === 'saddr' ? 1 : 2)),
    compare('==', hostNumber(localType)),
  ],
})

export const hasMark = (mark: number): Expression => ({
  text: `meta mark & ${markText(mark)} != 0x00000000`,
  encode: () => [loadMeta('mark', firstRegister), ...hasBit(mark)],
})
