/**
 * The server side of an SPDY/3.1 connection: streams opened by the client, each with headers and data in both
 * directions.
 */
import type { Duplex } from 'node:stream'
import { HeaderReader, HeaderWriter, type SpdyHeaders } from './spdy-headers.ts'

/** A stream. Data is buffered until `listen` is called. */
export interface SpdyStream {
  readonly headers: SpdyHeaders
  write(data: Buffer | string): void
  /** Ends the writing side. */
  end(): void
  /** `data` is called with each chunk, `ended` after the last one. */
  listen(data: (chunk: Buffer) => void, ended?: () => void): void
}

const version = 3
const [synStream, synReply, rstStream, ping, goAway, headersFrame] = [1, 2, 3, 6, 7, 8]
const finFlag = 1
const headBytes = 8
const protocolError = 1
const refusedStream = 3
/** Port forwarding needs neither more streams nor larger control frames. */
const maxStreams = 1000
const maxControlBytes = 64 * 1024

class Stream implements SpdyStream {
  readonly headers: SpdyHeaders
  readonly #send: (data: Buffer, isLast: boolean) => void
  #buffered: Buffer[] = []
  #data: ((chunk: Buffer) => void) | undefined
  #ended: (() => void) | undefined
  #isOver = false
  #isClosed = false

  constructor(headers: SpdyHeaders, send: (data: Buffer, isLast: boolean) => void) {
    this.headers = headers
    this.#send = send
  }

  write(data: Buffer | string): void {
    if (!this.#isClosed) this.#send(Buffer.from(data), false)
  }

  end(): void {
    if (!this.#isClosed) this.#send(Buffer.alloc(0), true)
    this.#isClosed = true
  }

  listen(data: (chunk: Buffer) => void, ended?: () => void): void {
    this.#data = data
    this.#ended = ended
    for (const chunk of this.#buffered.splice(0)) data(chunk)
    if (this.#isOver) ended?.()
  }

  take(chunk: Buffer): void {
    if (this.#data) this.#data(chunk)
    else this.#buffered.push(chunk)
  }

  finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ended?.()
  }
}

export class SpdyConnection {
  readonly #socket: Duplex
  readonly #onStream: (stream: SpdyStream) => void
  readonly #streams = new Map<number, Stream>()
  readonly #reader = new HeaderReader()
  readonly #writer = new HeaderWriter()
  #buffer: Buffer = Buffer.alloc(0)
  #closed: () => void = () => {}
  /** Frames are processed in order, for headers are decompressed asynchronously. */
  #handling: Promise<void> = Promise.resolve()

  /** `onStream` is called with each stream that the client opens; `head` is data already received. */
  constructor(socket: Duplex, head: Buffer, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket
    this.#onStream = onStream
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      for (const stream of this.#streams.values()) stream.finish()
      this.#streams.clear()
      this.#reader.close()
      this.#writer.close()
      this.#closed()
    })
    if (head.length > 0) this.#take(head)
  }

  onClose(callback: () => void): void {
    this.#closed = callback
  }

  /** Closes the connection after all writes in progress. */
  close(): void {
    void this.#handling.finally(() => this.#socket.end())
  }

  #take(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    while (this.#buffer.length >= headBytes) {
      const length = this.#buffer.readUIntBE(5, 3)
      const isControl = (this.#buffer[0]! & 0x80) !== 0
      if (isControl && length > maxControlBytes) {
        this.#socket.destroy()
        return
      }
      if (this.#buffer.length < headBytes + length) return
      const frame = this.#buffer.subarray(0, headBytes + length)
      this.#buffer = this.#buffer.subarray(headBytes + length)
      this.#handling = this.#handling
        .then(() => (isControl ? this.#control(frame) : this.#data(frame)))
        .catch(() => void this.#socket.destroy())
    }
  }

  #data(frame: Buffer): void {
    const stream = this.#streams.get(frame.readUInt32BE(0))
    if (!stream) return
    if (frame.length > headBytes) stream.take(frame.subarray(headBytes))
    if (frame[4]! & finFlag) stream.finish()
  }

  async #control(frame: Buffer): Promise<void> {
    const type = frame.readUInt16BE(2)
    const body = frame.subarray(headBytes)
    if (type === synStream) await this.#open(body, (frame[4]! & finFlag) !== 0)
    else if (type === ping) this.#socket.write(frame)
    else if (type === rstStream) this.#streams.get(id(body))?.finish()
    // Decompressed for the shared compression context; the content is ignored.
    else if (type === headersFrame) await this.#reader.read(body.subarray(4))
    else if (type === goAway && this.#streams.size === 0) this.#socket.end()
  }

  async #open(body: Buffer, isOver: boolean): Promise<void> {
    const streamId = id(body)
    const headers = await this.#reader.read(body.subarray(10))
    if (this.#streams.has(streamId) || this.#streams.size >= maxStreams) {
      this.#reset(streamId, this.#streams.has(streamId) ? protocolError : refusedStream)
      return
    }
    const stream = new Stream(headers, (data, isLast) => this.#send(streamId, data, isLast))
    this.#streams.set(streamId, stream)
    const block = await this.#writer.write({})
    this.#socket.write(Buffer.concat([controlHead(synReply, 4 + block.length), uint32(streamId), block]))
    if (isOver) stream.finish()
    this.#onStream(stream)
  }

  #send(streamId: number, data: Buffer, isLast: boolean): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    const head = Buffer.alloc(headBytes)
    head.writeUInt32BE(streamId, 0)
    head.writeUInt32BE(data.length, 4)
    head[4] = isLast ? finFlag : 0
    this.#socket.write(data.length === 0 ? head : Buffer.concat([head, data]))
  }

  #reset(streamId: number, status: number): void {
    this.#socket.write(Buffer.concat([controlHead(rstStream, 8), uint32(streamId), uint32(status)]))
  }
}

const id = (body: Buffer): number => body.readUInt32BE(0) & 0x7fff_ffff

function controlHead(type: number, length: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt32BE(length, 4)
  return head
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
