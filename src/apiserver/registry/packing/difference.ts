/**
 * A compact encoding of bytes as the difference from similar ones, the pattern: which pieces of the pattern they
 * contain, and the bytes between those. Made for JSON of one shape, where values differ and names do not: pods of one
 * ReplicaSet differ in a tenth. The result is a string of one byte per character: unlike a buffer, that is one object
 * and one block of memory.
 *
 * The format: the size of the whole, then repeated: the number of literal bytes, those bytes, the distance from the end
 * of the last piece of the pattern to the next one, and its length. Numbers have 7 bits per byte, the lowest first.
 */

/** Larger inputs are not encoded: it would take long. */
const maxBytes = 32 * 1024

const quote = 0x22
/** The minimum length of a piece; a shorter one costs about as much as it saves. */
const minPiece = 8
/** The number of bytes of the pattern that are searched for the next piece. */
const lookAhead = 1024
/** Space for two numbers after the limit. */
const numbersBytes = 16

const scratch = Buffer.allocUnsafeSlow(maxBytes + numbersBytes)

/**
 * Undefined if the result would be longer than `most` bytes, which is less than the input, or if the input is too
 * large.
 */
export function difference(pattern: Buffer, bytes: Buffer, most: number): string | undefined {
  const size = bytes.length
  if (size > maxBytes) return undefined
  let length = writeNumber(0, size)
  let written = 0
  let pieceEnd = 0
  for (let at = 0, from = 0; ; ) {
    const piece = equalBytes(pattern, from, bytes, at)
    const isWorthIt = piece >= minPiece
    if (isWorthIt) {
      length = writeGap(length, bytes, written, at)
      length = writeNumber(length, from - pieceEnd)
      length = writeNumber(length, piece)
      pieceEnd = from + piece
      written = at += piece
    }
    // Names begin and end with quotes: search the pattern for the bytes that follow the next quote.
    const next = bytes.indexOf(quote, isWorthIt ? at : at + 1)
    if (next < 0 || length + next - written > most) break
    at = next
    from = placeOf(pattern, pieceEnd, bytes, at)
  }
  if (length + size - written > most) return undefined
  return scratch.toString('latin1', 0, writeGap(length, bytes, written, size))
}

/** Restores the bytes from their difference. */
export function restored(pattern: Buffer, difference: string): Buffer {
  scratch.write(difference, 'latin1')
  position = 0
  const bytes = Buffer.allocUnsafe(readNumber())
  let pieceEnd = 0
  for (let at = 0; ; ) {
    const gap = readNumber()
    at += scratch.copy(bytes, at, position, position + gap)
    position += gap
    if (at === bytes.length) return bytes
    const from = pieceEnd + readNumber()
    pieceEnd = from + readNumber()
    at += pattern.copy(bytes, at, from, pieceEnd)
  }
}

function equalBytes(pattern: Buffer, from: number, bytes: Buffer, at: number): number {
  const most = Math.min(pattern.length - from, bytes.length - at)
  let count = 0
  while (count < most && pattern[from + count] === bytes[at + count]) count++
  return count
}

/** The offset in the pattern where the bytes at `at` occur; its end if they do not occur nearby. */
function placeOf(pattern: Buffer, from: number, bytes: Buffer, at: number): number {
  const end = Math.min(from + lookAhead, pattern.length - minPiece)
  for (let place = from; place <= end; place++) {
    if (pattern[place] === quote && equalBytes(pattern, place, bytes, at) >= minPiece) return place
  }
  return pattern.length
}

function writeGap(length: number, bytes: Buffer, start: number, end: number): number {
  const from = writeNumber(length, end - start)
  return from + bytes.copy(scratch, from, start, end)
}

function writeNumber(length: number, value: number): number {
  let at = length
  for (; value > 0x7f; value >>>= 7) scratch[at++] = (value & 0x7f) | 0x80
  scratch[at++] = value
  return at
}

/** The offset of the next number. */
let position = 0

function readNumber(): number {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = scratch[position++]!
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}
