/**
 * One side of an SPDY/3.1 connection; streams are opened by the client. It ignores windows, as Go's `spdystream` does
 * on the other side: a stream that is not read pauses the whole connection.
 */
import { type Duplex, Writable } from 'node:stream'
import {
  controlFrame,
  dataHead,
  type Frame,
  FrameSplitter,
  finFlag,
  goAway,
  headersFrame,
  maxDataBytes,
  ping,
  rstStream,
  streamIdOf,
  synReply,
  synStream,
} from './frames.ts'
import { HeaderReader, headerBlock, type SpdyHeaders } from './spdy-headers.ts'
import { SpdyStream } from './spdy-stream.ts'

const [protocolError, refusedStream, cancel] = [1, 3, 5]
/** The maximum number of streams that are open at the same time. A forwarded connection needs two. */
const maxStreams = 8192
/**
 * How long a client may take to close the connection before the server does, in ms. kubectl handles frames in parallel:
 * if its connection ends, it may lose an exit status that it has received.
 */
const clientFirstMs = 1_000
/** How long a client may take to close the connection after the server has, in ms. */
const lingerMs = 10_000

export class SpdyConnection {
  readonly #socket: Duplex
  readonly #onStream: (stream: SpdyStream) => void
  readonly #streams = new Map<number, SpdyStream>()
  readonly #frames = new FrameSplitter()
  readonly #headers = new HeaderReader()
  readonly #closed = new AbortController()
  readonly #isClient: boolean
  #isFirstBlock = true
  #nextId = 1
  #isClosing = false

  /**
   * `onStream` is called with each stream that the client opens; it must read both, or `resume()`, and destroys streams
   * that it rejects. `head` is data that was already received.
   */
  constructor(
    socket: Duplex,
    head: Buffer,
    onStream: (stream: SpdyStream) => void,
    side: 'server' | 'client' = 'server',
  ) {
    this.#socket = socket
    this.#isClient = side === 'client'
    this.#onStream = onStream
    const frames = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#take(chunk).then(() => done(), done)
      },
    })
    frames.on('error', () => socket.destroy())
    frames.on('finish', () => this.#endSocket())
    frames.on('close', () => this.#isClient && this.#end())
    socket.on('error', () => socket.destroy())
    // A client still gets what a server has sent before its end; a server stops when its client has left.
    socket.on('close', () => (this.#isClient ? frames.end() : this.#end()))
    // The client may have left while its request was authorized.
    if (socket.destroyed) this.#end()
    if (head.length > 0) socket.unshift(head)
    socket.pipe(frames)
  }

  /** Aborted when the connection is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal
  }

  /** Opens a stream, as a client. It must be read. */
  open(headers: SpdyHeaders): SpdyStream {
    const streamId = this.#nextId
    this.#nextId += 2
    const stream = this.#newStream(streamId, headers)
    if (this.#isClosing) {
      stream.disconnect()
      return stream
    }
    this.#streams.set(streamId, stream)
    const start = Buffer.concat([uint32(streamId), Buffer.alloc(6), headerBlock(headers, this.#isFirstBlock)])
    this.#isFirstBlock = false
    this.#write(controlFrame(synStream, start))
    return stream
  }

  /** Closes the connection after all writes of its streams. Data that still arrives is dropped. */
  close(): void {
    this.#disconnectStreams()
    if (this.#socket.destroyed) return
    if (this.#isClient) {
      this.#endSocket()
      return
    }
    const late = setTimeout(() => this.#endSocket(), clientFirstMs).unref()
    this.#socket.on('close', () => clearTimeout(late))
  }

  #endSocket(): void {
    this.#disconnectStreams()
    this.#socket.end()
    const late = setTimeout(() => this.#socket.destroy(), lingerMs).unref()
    this.#socket.on('close', () => clearTimeout(late))
  }

  #end(): void {
    this.#disconnectStreams()
    this.#headers.close()
    this.#closed.abort()
  }

  #disconnectStreams(): void {
    this.#isClosing = true
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) stream.disconnect()
  }

  async #take(chunk: Buffer): Promise<void> {
    for (const frame of this.#frames.split(chunk)) {
      const handling = this.#handle(frame)
      if (handling) await handling
    }
  }

  #handle(frame: Frame): Promise<unknown> | undefined {
    if (frame.kind === 'data') return this.#receive(frame.streamId, frame.data, frame.isLast)
    const { type, flags, body } = frame
    if (type === synStream) return this.#open(body, (flags & finFlag) !== 0)
    // Decompressed for the context that all blocks share; the content is ignored.
    if (type === headersFrame || (type === synReply && this.#isClient)) return this.#headers.read(body.subarray(4))
    if (type === ping) this.#write(controlFrame(ping, body))
    else if (type === rstStream) this.#reset(streamIdOf(body))
    else if (type === goAway && this.#streams.size === 0) this.#endSocket()
    return undefined
  }

  #receive(streamId: number, data: Buffer, isLast: boolean): Promise<void> | undefined {
    const stream = this.#streams.get(streamId)
    const isFull = stream?.deliver(data)
    if (isLast) stream?.deliverEnd()
    return isFull
  }

  async #open(body: Buffer, isEmpty: boolean): Promise<void> {
    const streamId = streamIdOf(body)
    const headers = await this.#headers.read(body.subarray(10))
    if (this.#isClosing) return
    if (this.#streams.has(streamId) || this.#streams.size >= maxStreams) {
      this.#sendReset(streamId, this.#streams.has(streamId) ? protocolError : refusedStream)
      return
    }
    const stream = this.#newStream(streamId, headers)
    this.#streams.set(streamId, stream)
    this.#write(controlFrame(synReply, Buffer.concat([uint32(streamId), headerBlock({}, this.#isFirstBlock)])))
    this.#isFirstBlock = false
    if (isEmpty) stream.deliverEnd()
    this.#onStream(stream)
  }

  #newStream(streamId: number, headers: SpdyHeaders): SpdyStream {
    return new SpdyStream(streamId, headers, {
      send: (data, sent) => this.#send(streamId, data, sent),
      sendEnd: (sent) => this.#write(dataHead(streamId, 0, finFlag), sent),
      closed: (isComplete) => this.#forget(streamId, isComplete),
    })
  }

  #send(streamId: number, data: Buffer, sent: () => void): void {
    const rest = data.subarray(maxDataBytes)
    const piece = data.subarray(0, maxDataBytes)
    this.#socket.cork()
    this.#write(dataHead(streamId, piece.length, 0))
    this.#write(piece, rest.length === 0 ? sent : () => this.#send(streamId, rest, sent))
    this.#socket.uncork()
  }

  /** Writes to the connection; `sent` is not called if that has failed, as the streams end with the connection. */
  #write(bytes: Buffer, sent?: () => void): void {
    if (this.#socket.writable) this.#socket.write(bytes, (error) => !error && sent?.())
  }

  /** The other side has aborted a stream. A server of Go does so at its end; data from before is still read. */
  #reset(streamId: number): void {
    const stream = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    if (this.#isClient) stream?.disconnect()
    else stream?.destroy()
  }

  #forget(streamId: number, isComplete: boolean): void {
    if (this.#streams.delete(streamId) && !isComplete) this.#sendReset(streamId, cancel)
  }

  #sendReset(streamId: number, status: number): void {
    this.#write(controlFrame(rstStream, Buffer.concat([uint32(streamId), uint32(status)])))
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
