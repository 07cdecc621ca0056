/**
 * Encodes and decodes the parts of DER (X.690) that certificates need. An element is its bytes, tag and length
 * included.
 */

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  time: 0x18,
} as const
const sequenceTag = 0x30
const setTag = 0x31

/** Encodes an element with a tag below 31. */
export function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content])
}

/** Up to 127 in one byte; larger lengths follow the number of their bytes. */
function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const digits = length.toString(16)
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

export const sequence = (...elements: readonly Buffer[]): Buffer => element(sequenceTag, ...elements)
export const set = (...elements: readonly Buffer[]): Buffer => element(setTag, ...elements)
/** `[number]` around other elements. */
export const explicit = (number: number, ...elements: readonly Buffer[]): Buffer => element(0xa0 | number, ...elements)
/** `[number]` in place of the content's own tag. */
export const implicit = (number: number, content: Buffer): Buffer => element(0x80 | number, content)
export const yes = element(tags.boolean, Buffer.from([0xff]))
export const octets = (content: Buffer): Buffer => element(tags.octetString, content)
export const utf8 = (text: string): Buffer => element(tags.utf8, Buffer.from(text))
/** A bit string; `unused` is the number of unused bits in the last byte. */
export const bits = (content: Buffer, unused = 0): Buffer => element(tags.bitString, Buffer.from([unused]), content)

/** A positive integer with these bytes; the first one must be below 0x80 and not zero. */
export const positive = (bytes: Buffer): Buffer => element(tags.integer, bytes)

/**
 * An object identifier in dotted form. The first two numbers share a byte; larger numbers continue while the top bit is
 * set.
 */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const septets = [number & 0x7f]
    for (let left = number >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80)
    return septets
  })
  return element(tags.oid, Buffer.from(bytes))
}

/** A time in whole seconds; two-digit years up to 2049, as RFC 5280 requires. */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/\.\d+|[^\d]/g, '')}Z`
  return date.getUTCFullYear() < 2050
    ? element(tags.utcTime, Buffer.from(digits.slice(2)))
    : element(tags.time, Buffer.from(digits))
}

/** Returns the content of an element. Throws a RangeError if it is truncated. */
export function contentOf(der: Buffer): Buffer {
  const { start, end } = extentOf(der)
  return der.subarray(start, end)
}

/** Returns the elements inside an element. Throws a RangeError if one is truncated. */
export function elementsOf(der: Buffer): Buffer[] {
  const elements: Buffer[] = []
  for (let rest = contentOf(der); rest.length > 0; ) {
    const { end } = extentOf(rest)
    elements.push(rest.subarray(0, end))
    rest = rest.subarray(end)
  }
  return elements
}

function extentOf(der: Buffer): { readonly start: number; readonly end: number } {
  const first = der.readUInt8(1)
  const digits = first < 0x80 ? 0 : first & 0x7f
  const start = 2 + digits
  const end = start + (digits === 0 ? first : der.readUIntBE(2, digits))
  if (end > der.length) throw new RangeError('an element is truncated')
  return { start, end }
}
