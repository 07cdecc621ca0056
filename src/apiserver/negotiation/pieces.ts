/** Lists in pieces, made as the client takes them. */
import type { Pieces } from '../http/exchange.ts'

/** A piece is complete when it has as many bytes: about as many are written at a time. */
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
 * Joins small parts to pieces. Where all fits into one piece it is made at once, and its size is known; larger ones are
 * made while they are sent.
 */
export function gathered(parts: Iterable<Buffer>): readonly Buffer[] | Pieces {
  const pieces = joinParts(parts)
  const first = pieces.next()
  if (first.done) return []
  const second = pieces.next()
  if (second.done) return [first.value]
  return resumed([first.value, second.value], pieces)
}

/** What was made already goes first, and is let go. */
function* resumed(made: Buffer[], pieces: Iterable<Buffer>): Generator<Buffer, void> {
  for (let piece = made.shift(); piece; piece = made.shift()) yield piece
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
