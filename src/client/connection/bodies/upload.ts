/**
 * Sends a body in pieces, one after the other. If the server rejects an upload in the middle, Node counts the unsent
 * bytes as memory of the connection until it closes; small pieces keep that low, and it is measured.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'

const pieceBytes = 64 * 1024

/** Starts the upload. The returned function counts the bytes that Node holds unsent; call it after the stream ended. */
export function upload(stream: ClientHttp2Stream, body: Buffer): () => number {
  let written = 0
  let sent = 0
  const next = (): void => {
    if (stream.closed || stream.destroyed) return
    const piece = body.subarray(written, written + pieceBytes)
    written += piece.length
    const done = (error?: Error | null): void => {
      if (error) return
      sent = written
      if (written < body.length) next()
    }
    if (written < body.length) stream.write(piece, done)
    else stream.end(piece, () => done(stream.errored))
  }
  // The server has responded and needs no more of the body.
  stream.on('end', () => {
    if (!stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL)
  })
  next()
  return () => (stream.writableFinished ? 0 : written - sent)
}
