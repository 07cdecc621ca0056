/** Domain names in messages: labels with a length before each, and pointers to earlier names (RFC 1035, 4.1.4). */

/** A name and the offset after it. */
export interface ReadName {
  /** Labels as byte strings (`latin1`), in the case of the message. */
  readonly labels: readonly string[]
  readonly end: number
}

const maxNameBytes = 255
const pointerBits = 0xc0

/**
 * Reads a name.
 * @throws a RangeError if it leaves the message, is too long, or its pointers do not go backwards.
 */
export function readName(message: Buffer, start: number): ReadName {
  const labels: string[] = []
  let at = start
  let end: number | undefined
  let size = 1
  let lowest = start
  for (;;) {
    const length = message[at]
    if (length === undefined) throw new RangeError('a name leaves the message')
    if (length === 0) return { labels, end: end ?? at + 1 }
    if ((length & pointerBits) === pointerBits) {
      end ??= at + 2
      at = message.readUInt16BE(at) & 0x3fff
      if (at >= lowest) throw new RangeError('a pointer of a name does not go backwards')
      lowest = at
    } else {
      if (length > 63 || at + 1 + length > message.length) throw new RangeError('a label is too long')
      size += length + 1
      if (size > maxNameBytes) throw new RangeError('a name is too long')
      labels.push(message.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
  }
}

/** Labels of a dotted name: `a.b` and `a.b.`; the root has none. */
export const labelsOf = (name: string): string[] => name.split('.').filter((label) => label !== '')

/** The bytes of a name without pointers. */
export function nameBytes(labels: readonly string[]): Buffer {
  const parts = labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'))
  return Buffer.concat([...parts, Buffer.alloc(1)])
}
