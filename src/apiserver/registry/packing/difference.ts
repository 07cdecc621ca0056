/**
 * What sets bytes apart from similar ones, the pattern: which pieces of the pattern they are made of, and what stands
 * between those. Made for JSON of one shape, where values differ and names do not: pods of one ReplicaSet differ in a
 * tenth. A text of one byte a character keeps it: unlike a buffer, that is one object and one block of memory.
 *
 * The form: the size of the whole, then again and again how many bytes follow as they are, those bytes, how far behind
 * the last piece of the pattern the next one begins, and its length. Numbers have 7 bits a byte, the lowest first.
 */

/** Larger ones stay as they are: it would take long. */
const mostBytes = 32 * 1024

const quote = 0x22
/** So many bytes must be equal for a piece; a shorter one costs about as much as it saves. */
const leastPiece = 8
/** How far ahead in the pattern the next piece is looked for. */
const lookAhead = 1024
/** Room for two numbers behind what is full. */
const numbersBytes = 16

const scratch = Buffer.allocUnsafeSlow(mostBytes + numbersBytes)

/** Undefined where it would be longer than `most` bytes, fewer than there are, or the bytes are too many. */
export function difference(pattern: Buffer, bytes: Buffer, most: number): string | undefined {
  const size = bytes.length
  if (size > mostBytes) return undefined
  let length = writeNumber(0, size)
  let written = 0
  let pieceEnd = 0
  for (let at = 0, from = 0; ; ) {
    const piece = equalBytes(pattern, from, bytes, at)
    const isWorthIt = piece >= leastPiece
    if (isWorthIt) {
      length = writeGap(length, bytes, written, at)
      length = writeNumber(length, from - pieceEnd)
      length = writeNumber(length, piece)
      pieceEnd = from + piece
      written = at += piece
    }
    // Names begin and end with quotes: what follows the next one is looked for in the pattern.
    const next = bytes.indexOf(quote, isWorthIt ? at : at + 1)
    if (next < 0 || length + next - written > most) break
    at = next
    from = placeOf(pattern, pieceEnd, bytes, at)
  }
  if (length + size - written > most) return undefined
  return scratch.toString('latin1', 0, writeGap(length, bytes, written, size))
}

/** The bytes again. */
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

/** Where the pattern goes on as the bytes at `at` do; its end if that is nowhere near. */
function placeOf(pattern: Buffer, from: number, bytes: Buffer, at: number): number {
  const end = Math.min(from + lookAhead, pattern.length - leastPiece)
  for (let place = from; place <= end; place++) {
    if (pattern[place] === quote && equalBytes(pattern, place, bytes, at) >= leastPiece) return place
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

/** Where the next number begins. */
let position = 0

function readNumber(): number {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = scratch[position++]!
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}
