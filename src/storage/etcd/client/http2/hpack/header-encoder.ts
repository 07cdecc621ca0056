/** Encodes blocks of headers (HPACK, RFC 7541) without the dynamic table, so that a block can be used many times. */
import { type Header, staticTable } from './static-table.ts'

/** Returns the block of headers in ASCII. */
export function encodeHeaders(headers: readonly Header[]): Buffer {
  return Buffer.concat(headers.flatMap(encodeHeader))
}

function encodeHeader([name, value]: Header): Buffer[] {
  const index = staticTable.findIndex((entry) => entry[0] === name && entry[1] === value) + 1
  if (index > 0) return [integer(index, 7, 0x80)]
  const nameIndex = staticTable.findIndex((entry) => entry[0] === name) + 1
  return nameIndex > 0 ? [integer(nameIndex, 4, 0), ...text(value)] : [integer(0, 4, 0), ...text(name), ...text(value)]
}

const text = (value: string): Buffer[] => [integer(value.length, 7, 0), Buffer.from(value, 'latin1')]

/** An integer whose first bits share a byte with `flags`. */
function integer(value: number, bits: number, flags: number): Buffer {
  const max = (1 << bits) - 1
  if (value < max) return Buffer.of(flags | value)
  const bytes = [flags | max]
  let rest = value - max
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
