/** Holds the body of an answer for a trace, without copying it. */
import type { Pieces, Response } from '../../http/exchange.ts'

/** Larger answers are left out of traces. */
const maxAnswerBytes = 1024 * 1024

/** A body as it was sent. */
export interface SentBody {
  /** Empty if it is larger than 1 MiB, or has not been sent. */
  readonly pieces: readonly Buffer[]
  readonly bytes: number
}

/** The answer, whose body is recorded when it is sent. */
export interface Recorded {
  readonly response: Response
  /** Undefined for streams and answers without a body. */
  readonly body: (() => SentBody) | undefined
}

/** `addBytes` is called with the bytes that the trace holds. */
export function recordBody(response: Response, addBytes: (bytes: number) => void): Recorded {
  const { body } = response
  if (body === undefined || typeof body === 'function') return { response, body: undefined }
  if (!Buffer.isBuffer(body) && !Array.isArray(body)) return recordPieces(response, body as Pieces, addBytes)
  const all: readonly Buffer[] = Buffer.isBuffer(body) ? [body] : (body as readonly Buffer[])
  const bytes = all.reduce((sum, { length }) => sum + length, 0)
  const pieces = bytes > maxAnswerBytes ? [] : all
  if (pieces.length > 0) addBytes(bytes)
  return { response, body: () => ({ pieces, bytes }) }
}

function recordPieces(response: Response, body: Pieces, addBytes: (bytes: number) => void): Recorded {
  let pieces: Buffer[] = []
  let bytes = 0
  const record = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes > maxAnswerBytes) {
      addBytes(piece.length - bytes)
      pieces = []
    } else {
      pieces.push(piece)
      addBytes(piece.length)
    }
  }
  const recorded: Pieces = {
    size: body.size,
    *[Symbol.iterator]() {
      for (const piece of body) {
        if (bytes <= maxAnswerBytes) record(piece)
        else bytes += piece.length
        yield piece
      }
    },
  }
  return { response: { ...response, body: recorded }, body: () => ({ pieces, bytes }) }
}
