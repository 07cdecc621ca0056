/** A tiny protobuf encoder for tests: fields one by one, as bytes. */
import { magic } from './envelope.ts'

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

export const tag = (number: number, wireType: number): Buffer => varint(number * 8 + wireType)

/** A length-delimited field: a string, bytes, or the encoded fields of a message. */
export function field(number: number, content: string | Buffer | readonly Buffer[]): Buffer {
  const bytes =
    typeof content === 'string' ? Buffer.from(content) : Buffer.isBuffer(content) ? content : Buffer.concat(content)
  return Buffer.concat([tag(number, 2), varint(bytes.length), bytes])
}

export const number = (at: number, value: number | bigint): Buffer => Buffer.concat([tag(at, 0), varint(value)])

export function double(at: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return Buffer.concat([tag(at, 1), bytes])
}

/** A message in its envelope, the form that clients send. */
export const envelope = (apiVersion: string, kind: string, message: readonly Buffer[]): Buffer =>
  Buffer.concat([
    magic,
    field(1, [field(1, apiVersion), field(2, kind)]),
    field(2, message),
    field(3, ''),
    field(4, ''),
  ])
