/** A stream of a session: one request with its answer. Holds what flow control does not let through yet. */

import { maxWindow } from './frames.ts'
import type { Headers } from './hpack/header-decoder.ts'
import { Http2Error } from './http2-error.ts'

export interface StreamEvents {
  /** Headers or trailers. */
  headers(headers: Headers): void
  data(chunk: Buffer): void
  /** No further calls follow. */
  closed(end: StreamEnd): void
}

export interface StreamEnd {
  /** False if the peer certainly has not processed the request. */
  readonly mayHaveRun: boolean
  /** The error of the connection, if it was the reason. */
  readonly cause?: Error | undefined
}

/** The part of a session that its streams use. */
export interface StreamSession {
  readonly streamWindow: number
  /** Sends waiting data as far as flow control permits. */
  pump(stream: ClientStream): void
  reset(stream: ClientStream): void
  /** Lets the peer send more data on the stream. */
  credit(stream: ClientStream, bytes: number): void
}

export class ClientStream {
  readonly events: StreamEvents
  /** The encoded headers of the request. */
  readonly block: Buffer
  readonly #session: StreamSession
  /** 0 until it is sent. */
  id = 0
  /** Bytes that the peer receives now. */
  sendWindow = 0
  /** Data to send. */
  readonly waiting: Buffer[] = []
  /** True once `finish` was called. */
  isFinished = false
  /** True once the end of the request was sent. */
  isEndSent = false
  isClosed = false
  #isPaused = false
  /** Received data that has not been credited to the peer. */
  #received = 0
  #held: Buffer[] = []
  #end: StreamEnd | undefined

  constructor(session: StreamSession, block: Buffer, events: StreamEvents) {
    this.#session = session
    this.block = block
    this.events = events
  }

  send(data: Buffer): void {
    if (this.isFinished || this.isClosed) return
    this.waiting.push(data)
    this.#session.pump(this)
  }

  /** Sends the last data and ends the request. */
  finish(data?: Buffer): void {
    if (this.isFinished || this.isClosed) return
    if (data) this.waiting.push(data)
    this.isFinished = true
    this.#session.pump(this)
  }

  /** Cancels the request without a call of `closed`. */
  cancel(): void {
    if (this.#end || this.isClosed) this.isClosed = true
    else this.#session.reset(this)
    this.#held = []
    this.#end = undefined
  }

  /** Holds received data until `resume`; the peer stops sending when its window is used up. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    while (!this.#isPaused && this.#held.length > 0) this.#deliver(this.#held.shift()!)
    if (this.#isPaused || !this.#end || this.isClosed) return
    this.isClosed = true
    this.events.closed(this.#end)
  }

  /** Changes the window in which data may be sent. Throws Http2Error. */
  widen(bytes: number): void {
    this.sendWindow += bytes
    if (this.sendWindow > maxWindow) throw new Http2Error('FLOW_CONTROL_ERROR', 'the window of a stream is too large')
  }

  /** Takes data of a frame, which counts `bytes` with its padding. Throws Http2Error. */
  receive(chunk: Buffer, bytes: number): void {
    this.#received += bytes
    if (this.#received > this.#session.streamWindow)
      throw new Http2Error('FLOW_CONTROL_ERROR', 'more data was sent on a stream than its window permits')
    if (this.#isPaused) this.#held.push(chunk)
    else this.#deliver(chunk)
  }

  /** Ends the stream, after data that is held. */
  close(end: StreamEnd): void {
    if (this.isClosed || this.#end) return
    if (this.#held.length > 0) {
      this.#end = end
      return
    }
    this.isClosed = true
    this.events.closed(end)
  }

  #deliver(chunk: Buffer): void {
    const { streamWindow } = this.#session
    if (this.#received >= streamWindow / 2) {
      this.#session.credit(this, this.#received)
      this.#received = 0
    }
    this.events.data(chunk)
  }
}
