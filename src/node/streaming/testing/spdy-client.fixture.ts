/** The client side of SPDY/3.1, as in kubectl, for tests. */
import type { Duplex } from 'node:stream'
import { constants, createDeflate } from 'node:zlib'
import {
  controlFrame,
  dataHead,
  type Frame,
  FrameSplitter,
  finFlag,
  goAway,
  ping,
  rstStream,
  streamIdOf,
  synReply,
  synStream,
} from '../spdy/frames.ts'
import { type SpdyHeaders, spdyDictionary } from '../spdy/spdy-headers.ts'

export class ClientStream {
  readonly id: number
  readonly received: Buffer[] = []
  /** Resolves when the server has ended its side; with true if it has reset the stream. */
  readonly ended = Promise.withResolvers<boolean>()
  readonly #socket: Duplex

  constructor(id: number, socket: Duplex) {
    this.id = id
    this.#socket = socket
  }

  /** Resolves when the connection has taken the data. */
  write(data: Buffer | string): Promise<void> {
    const bytes = Buffer.from(data)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#socket.write(dataHead(this.id, bytes.length, 0))
    this.#socket.write(bytes, () => resolve())
    return promise
  }

  end(): void {
    this.#socket.write(dataHead(this.id, 0, finFlag))
  }

  reset(): void {
    this.#socket.write(controlFrame(rstStream, numbers(this.id, 5)))
  }

  /** Resolves with all that the server has sent until its end. */
  async text(): Promise<string> {
    await this.ended.promise
    return Buffer.concat(this.received).toString()
  }
}

export class SpdyClient {
  readonly socket: Duplex
  /** The number of replies to streams. */
  replies = 0
  pings = 0
  readonly #frames = new FrameSplitter()
  readonly #deflate = createDeflate({ dictionary: spdyDictionary })
  readonly #streams = new Map<number, ClientStream>()
  #compressed: Buffer[] = []
  #nextId = 1

  constructor(socket: Duplex, head: Buffer) {
    this.socket = socket
    this.#deflate.on('data', (piece: Buffer) => this.#compressed.push(piece))
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#frames.split(chunk)) this.#receive(frame)
    })
    socket.on('close', () => {
      this.#deflate.destroy()
      for (const { ended } of this.#streams.values()) ended.resolve(false)
    })
    if (head.length > 0) socket.unshift(head)
  }

  /** Opens a stream. Call it only after the previous one is open. */
  async open(headers: SpdyHeaders): Promise<ClientStream> {
    const entries = Object.entries(headers)
    const texts = entries.flat().map((text) => Buffer.concat([numbers(Buffer.byteLength(text)), Buffer.from(text)]))
    const flushed = Promise.withResolvers<void>()
    this.#deflate.write(Buffer.concat([numbers(entries.length), ...texts]))
    this.#deflate.flush(constants.Z_SYNC_FLUSH, () => flushed.resolve())
    await flushed.promise
    const stream = new ClientStream(this.#nextId, this.socket)
    this.#nextId += 2
    this.#streams.set(stream.id, stream)
    const block = Buffer.concat(this.#compressed.splice(0))
    this.socket.write(controlFrame(synStream, Buffer.concat([numbers(stream.id, 0), Buffer.alloc(2), block])))
    return stream
  }

  ping(): void {
    this.socket.write(controlFrame(ping, numbers(1)))
  }

  close(): void {
    this.socket.write(controlFrame(goAway, numbers(0, 0)))
    this.socket.end()
  }

  #receive(frame: Frame): void {
    if (frame.kind === 'data') {
      const stream = this.#streams.get(frame.streamId)
      if (frame.data.length > 0) stream?.received.push(frame.data)
      if (frame.isLast) stream?.ended.resolve(false)
    } else if (frame.type === synReply) this.replies++
    else if (frame.type === rstStream) this.#streams.get(streamIdOf(frame.body))?.ended.resolve(true)
    else if (frame.type === ping) this.pings++
  }
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}
