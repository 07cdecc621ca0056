/** A DER parser (X.690) for certificate requests: splits sequences into their values. */

/** A value with its tag. */
export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly whole: Buffer
}

export const tags = { bitString: 0x03, sequence: 0x30, objectIdentifier: 0x06 } as const

/** Thrown for invalid DER, with the message of Go's encoding/asn1. */
export class DerError extends Error {}

/** Requests have at most four values in a sequence; longer sequences are rejected. */
const maxValues = 16

/** Returns consecutive values. Throws a DerError. */
export function derValues(bytes: Buffer): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const value = valueAt(bytes, at)
    values.push(value)
    if (values.length > maxValues) throw new DerError('asn1: structure error: sequence truncated')
    at += value.whole.length
  }
  return values
}

/** Returns the values of a sequence. Throws a DerError for other types. */
export function derSequence(value: DerValue | undefined): DerValue[] {
  if (value?.tag !== tags.sequence) throw new DerError("asn1: structure error: tags don't match")
  return derValues(value.content)
}

function valueAt(bytes: Buffer, from: number): DerValue {
  const tag = bytes[from]!
  const first = bytes[from + 1]
  if (first === undefined) throw new DerError('asn1: syntax error: truncated tag or length')
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  const start = from + 2 + lengthBytes
  if (lengthBytes > 4 || start > bytes.length) throw new DerError('asn1: syntax error: truncated tag or length')
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(from + 2, lengthBytes)
  if (start + length > bytes.length) throw new DerError('asn1: syntax error: data truncated')
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(from, start + length) }
}
