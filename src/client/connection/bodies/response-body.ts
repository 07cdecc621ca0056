/**
 * The body of a response, buffered from the first byte on. Node's own iteration of a stream throws if the stream ended
 * before the iteration began.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'

/** Bytes to buffer for a slow reader, before flow control stops the server. */
const maxBuffered = 1024 * 1024

export class ResponseBody implements AsyncIterable<Buffer> {
  readonly #stream: ClientHttp2Stream
  #pieces: Buffer[] = []
  #buffered = 0
  #ended = false
  #error: Error | undefined
  #wake: (() => void) | undefined

  /** Must be created before the response can begin. */
  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream
    stream.on('data', (piece: Buffer) => {
      this.#pieces.push(piece)
      this.#buffered += piece.length
      if (this.#buffered > maxBuffered) stream.pause()
      this.#wake?.()
    })
    stream.on('error', (error) => {
      this.#error = error
    })
    stream.on('end', () => this.#end())
    stream.on('close', () => this.#end())
  }

  /** Yields the pieces as they arrive. Throws the stream's error. Stopping the iteration cancels the request. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const pieces = this.#pieces
        this.#pieces = []
        this.#buffered = 0
        if (this.#stream.isPaused()) this.#stream.resume()
        yield* pieces
        if (this.#pieces.length > 0) continue
        if (this.#error) throw this.#error
        if (this.#ended) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      if (!this.#ended) this.#stream.close(constants.NGHTTP2_CANCEL)
    }
  }

  #end(): void {
    if (this.#ended) return
    // Node emits 'end' for streams that were reset, too.
    const { aborted, rstCode } = this.#stream
    if (aborted || rstCode !== constants.NGHTTP2_NO_ERROR) this.#error ??= new Error('the connection was closed')
    this.#ended = true
    this.#wake?.()
  }
}
