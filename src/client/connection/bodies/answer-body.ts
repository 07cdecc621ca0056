/**
 * The body of an answer, taken in from the first byte on. Node's own iteration of a stream takes an answer for broken
 * off whose end has come before somebody began to read it.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'

/** What may wait for a reader who is slow; more stays on the other side. Bytes. */
const mostWaiting = 1024 * 1024

export class AnswerBody implements AsyncIterable<Buffer> {
  readonly #stream: ClientHttp2Stream
  #pieces: Buffer[] = []
  #waiting = 0
  #ended = false
  #error: Error | undefined
  #wake: (() => void) | undefined

  /** To be made before the answer can begin. */
  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream
    stream.on('data', (piece: Buffer) => {
      this.#pieces.push(piece)
      this.#waiting += piece.length
      if (this.#waiting > mostWaiting) stream.pause()
      this.#wake?.()
    })
    stream.on('error', (error) => {
      this.#error = error
    })
    stream.on('end', () => this.#end())
    stream.on('close', () => this.#end())
  }

  /**
   * The pieces as they come. Throws what ended the stream, if that was not its end; a reader who stops early ends the
   * request.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const pieces = this.#pieces
        this.#pieces = []
        this.#waiting = 0
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
    // For Node, a stream that was reset has an end too.
    const { aborted, rstCode } = this.#stream
    if (aborted || rstCode !== constants.NGHTTP2_NO_ERROR) this.#error ??= new Error('the connection was closed')
    this.#ended = true
    this.#wake?.()
  }
}
