/** Writes a streamed response, over either protocol. */
import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { onceClosed } from './close-signal.ts'
import { drained } from './drained.ts'
import type { Sink } from './exchange.ts'

/** The request that is answered. */
interface Answered {
  /** Called when the response is completely known: from then on it only has to be read. */
  follow(): void
  /** Ends the connection (HTTP/1.1) or stream (HTTP/2) immediately. */
  abort(): void
}

export class ResponseSink implements Sink {
  readonly #stream: ServerResponse | ServerHttp2Stream
  readonly #answered: Answered

  constructor(stream: ServerResponse | ServerHttp2Stream, answered: Answered) {
    this.#stream = stream
    this.#answered = answered
  }

  write(chunk: Buffer): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.write(chunk)
  }

  get backlog(): number {
    return this.#stream.writableLength
  }

  ready(): Promise<void> {
    return drained(this.#stream)
  }

  end(): void {
    if (this.#stream.destroyed) return
    this.#stream.end()
    this.#answered.follow()
  }

  destroy(): void {
    this.#answered.abort()
  }

  onClose(callback: () => void): void {
    onceClosed(this.#stream, callback)
  }
}
