/** Lists in pieces, generated as the client reads them. */
import type { Pieces } from '../http/exchange.ts'

/** The size at which a piece is complete, in bytes: about as many are written at a time. */
export const pieceBytes = 64 * 1024

/** A head, pieces, and a tail. */
export function enclosed(head: Buffer, middle: Pieces, tail: Buffer): Pieces {
  const size = middle.size === undefined ? undefined : head.length + middle.size + tail.length
  return {
    ...(size !== undefined && { size }),
    *[Symbol.iterator]() {
      yield head
      yield* middle
      yield tail
    },
  }
}

/**
 * Joins small parts to pieces. If everything fits into one piece, it is generated immediately, and its size is known;
 * larger lists are generated while they are sent.
 */
export function gathered(parts: Iterable<Buffer>): readonly Buffer[] | Pieces {
  const pieces = joinParts(parts)
  const first = pieces.next()
  if (first.done) return []
  const second = pieces.next()
  if (second.done) return [first.value]
  return resumed([first.value, second.value], pieces)
}

/** Yields the existing pieces first, and releases them. */
function* resumed(existing: Buffer[], pieces: Iterable<Buffer>): Generator<Buffer, void> {
  for (let piece = existing.shift(); piece; piece = existing.shift()) yield piece
  yield* pieces
}

function* joinParts(parts: Iterable<Buffer>): Generator<Buffer, void> {
  let gathering: Buffer[] = []
  let size = 0
  for (const part of parts) {
    gathering.push(part)
    size += part.length
    if (size < pieceBytes) continue
    yield Buffer.concat(gathering, size)
    gathering = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(gathering, size)
}
