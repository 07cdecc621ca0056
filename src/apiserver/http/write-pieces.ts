/** Writes large bodies as the client reads them: data written faster would pile up in memory. */
import type { Writable } from 'node:stream'
import type { Response, Sink } from './exchange.ts'

/** A body that is not streamed. */
export type WholeBody = Exclude<Response['body'], undefined | ((sink: Sink) => void)>

/** Larger buffers are split, as TLS and HTTP/2 copy what they are given. */
export const pieceBytes = 256 * 1024

/** Bytes in total, if known. */
export function sizeOf(body: WholeBody): number | undefined {
  if (Buffer.isBuffer(body)) return body.length
  if (!Array.isArray(body)) return 'size' in body ? body.size : undefined
  return body.reduce((sum: number, part: Buffer) => sum + part.length, 0)
}

/**
 * Calls `end` when all is written. Stops when the stream is destroyed. Destroys the stream if a piece cannot be
 * generated.
 */
export function writePieces(stream: Writable, body: WholeBody, end: () => void): void {
  const pieces = cut(Buffer.isBuffer(body) ? [body] : body)
  const next = (): void => {
    try {
      for (;;) {
        if (stream.destroyed) return
        const piece = pieces.next()
        if (piece.done) {
          end()
          return
        }
        if (!stream.write(piece.value)) break
      }
    } catch (error) {
      stream.destroy(error as Error)
      return
    }
    stream.once('drain', next)
  }
  next()
}

/** Writes a response. Destroys the stream if that throws, so that the client does not wait for the rest. */
export function writeOrCut(stream: Pick<Writable, 'destroy'>, write: () => void): void {
  try {
    write()
  } catch (error) {
    stream.destroy()
    throw error
  }
}

function* cut(body: Iterable<Buffer>): Generator<Buffer, void> {
  for (const buffer of body) {
    if (buffer.length <= pieceBytes) yield buffer
    else for (let at = 0; at < buffer.length; at += pieceBytes) yield buffer.subarray(at, at + pieceBytes)
  }
}
