/** Types and values of keys in sets (linux/netfilter/nf_tables.h); the numbers of types are those of nft. */
import { addressToBytes } from '../address-bytes.ts'

/** The type of a field. */
export interface DataType {
  /** The name in `nft`. */
  readonly name: string
  readonly number: number
  /** In bytes. */
  readonly length: number
}

export const dataTypes = {
  verdict: { name: 'verdict', number: 1, length: 0 },
  integer: { name: 'integer', number: 4, length: 4 },
  ipv4Address: { name: 'ipv4_addr', number: 7, length: 4 },
  ipv6Address: { name: 'ipv6_addr', number: 8, length: 16 },
  protocol: { name: 'inet_proto', number: 12, length: 1 },
  icmpv6Type: { name: 'icmpv6_type', number: 29, length: 1 },
  port: { name: 'inet_service', number: 13, length: 2 },
} as const satisfies Record<string, DataType>

const protocolNumbers: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 }

/** A value in network order: an address, `tcp`, `udp` or `sctp`, or a port. */
export function valueBytes(type: DataType, text: string): Buffer {
  if (type.number === dataTypes.protocol.number) return Buffer.from([protocolNumbers[text] ?? 0])
  if (type.number === dataTypes.port.number) return Buffer.from([Number(text) >> 8, Number(text) & 0xff])
  return type.length === 4 ? Buffer.from(text.split('.').map(Number)) : addressToBytes(text)
}

/** Fields begin at multiples of four bytes, in keys and in registers. */
export const padded = (length: number): number => (length + 3) & ~3

/** The number of a concatenation: six bits for each field. */
export const concatenatedType = (types: readonly DataType[]): number =>
  types.reduce((number, type) => number * 64 + type.number, 0)

/** The bytes of a key. A single field is not padded. */
export const keyLength = (types: readonly DataType[]): number =>
  types.length === 1 ? types[0]!.length : types.reduce((sum, { length }) => sum + padded(length), 0)

/** The bytes of a key in the syntax of `nft`: `10.96.0.1 . tcp . 80`. */
export function keyBytes(types: readonly DataType[], key: string): Buffer {
  const fields = key.split(' . ')
  if (types.length === 1) return valueBytes(types[0]!, key)
  const bytes = Buffer.alloc(keyLength(types))
  let at = 0
  for (const [i, type] of types.entries()) {
    valueBytes(type, fields[i] ?? '').copy(bytes, at)
    at += padded(type.length)
  }
  return bytes
}

/** The fate of a packet. `chain` only for `goto` and `jump`. */
export interface Verdict {
  readonly action: 'drop' | 'return' | 'goto' | 'jump'
  readonly chain?: string
}

export const drop: Verdict = { action: 'drop' }
export const goTo = (chain: string): Verdict => ({ action: 'goto', chain })

export const verdictText = ({ action, chain }: Verdict): string => (chain === undefined ? action : `${action} ${chain}`)
