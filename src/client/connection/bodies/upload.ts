/**
 * Sends a body in pieces, one after the other. Node counts what it was given and has not sent as memory of the
 * connection, for ever if the server refuses the upload in the middle: so it is given little at a time, and it is known
 * how much was left.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'

const pieceBytes = 64 * 1024

/**
 * Begins at once. What is returned says how many bytes Node holds and has not sent; asked when the stream has ended,
 * those stay.
 */
export function upload(stream: ClientHttp2Stream, body: Buffer): () => number {
  let given = 0
  let sent = 0
  const next = (): void => {
    if (stream.closed || stream.destroyed) return
    const piece = body.subarray(given, given + pieceBytes)
    given += piece.length
    const done = (error?: Error | null): void => {
      if (error) return
      sent = given
      if (given < body.length) next()
    }
    if (given < body.length) stream.write(piece, done)
    else stream.end(piece, () => done(stream.errored))
  }
  // Who has answered wants no more of it.
  stream.on('end', () => {
    if (!stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL)
  })
  next()
  return () => (stream.writableFinished ? 0 : given - sent)
}
