/**
 * The client side of an HTTP/2 connection (RFC 9113), with what gRPC needs: streams with data in both directions,
 * trailers, flow control and pings. Node's `http2` takes several times the CPU for a small request.
 */
import type { Duplex } from 'node:stream'
import { ClientStream, type StreamEvents, type StreamSession } from './client-stream.ts'
import {
  contentOf,
  type Frame,
  FrameSplitter,
  flags,
  frameHead,
  frameTypes,
  maxFrameBytes,
  maxWindow,
  numbersFrame,
  preface,
  settings,
  settingsFrame,
} from './frames.ts'
import { HeaderDecoder } from './hpack/header-decoder.ts'
import { codeNamed, Http2Error, http2Codes } from './http2-error.ts'
import { Outgoing } from './outgoing.ts'

export interface SessionOptions {
  /** May still be connecting. */
  readonly socket: Duplex
  /** Bytes that the peer may send on a stream and on all streams before they are processed. */
  readonly streamWindow: number
  readonly sessionWindow: number
  /** The peer has sent its settings, so it speaks HTTP/2. */
  settings(): void
  /** The connection has ended. All streams are closed. */
  closed(error: Error | undefined): void
}

/** The first parts of a block of headers. */
interface PartialBlock {
  readonly streamId: number
  readonly isEnd: boolean
  bytes: Buffer
}

/** The window before settings of the peer, in bytes. */
const defaultWindow = 65_535
/** Bytes of a block of headers. */
const maxBlockBytes = 256 * 1024
const pingBytes = 8

export class ClientSession implements StreamSession {
  readonly #options: SessionOptions
  readonly #socket: Duplex
  readonly #outgoing: Outgoing
  readonly #frames = new FrameSplitter()
  readonly #decoder = new HeaderDecoder()
  readonly #streams = new Map<number, ClientStream>()
  /** Streams that wait for the end of others. */
  readonly #queued = new Set<ClientStream>()
  /** Streams whose data waits for a window. */
  readonly #blocked = new Set<ClientStream>()
  #block: PartialBlock | undefined
  #pings: (() => void)[] = []
  #nextId = 1
  #maxStreams = Infinity
  #initialWindow = defaultWindow
  #sendWindow = defaultWindow
  #received = 0
  #hasSettings = false
  #error: Error | undefined
  /** True once no more streams may be started. */
  isClosing = false
  isClosed = false

  constructor(options: SessionOptions) {
    this.#options = options
    this.#socket = options.socket
    this.#outgoing = new Outgoing((bytes) => this.#socket.writable && this.#socket.write(bytes))
    this.#socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', (error: Error) => {
        this.#error ??= error
      })
      .on('end', () => this.#socket.destroy())
      .on('close', () => this.#end())
  }

  /** Sends the first bytes. Call when the socket is connected: a write during a handshake would hide its error. */
  start(): void {
    const { streamWindow, sessionWindow } = this.#options
    this.#outgoing.push(
      preface,
      settingsFrame([
        [settings.enablePush, 0],
        [settings.initialWindowSize, streamWindow],
      ]),
      numbersFrame(frameTypes.windowUpdate, 0, sessionWindow - defaultWindow),
    )
  }

  get streamWindow(): number {
    return this.#options.streamWindow
  }

  /** Starts a request with encoded headers. Call only after `start`, while `isClosing` is false. */
  request(block: Buffer, events: StreamEvents): ClientStream {
    const stream = new ClientStream(this, block, events)
    if (this.#streams.size < this.#maxStreams) this.#start(stream)
    else this.#queued.add(stream)
    return stream
  }

  /** Calls back when the peer has answered. */
  ping(answered: () => void): void {
    this.#pings.push(answered)
    this.#outgoing.push(frameHead(pingBytes, frameTypes.ping, 0, 0), Buffer.alloc(pingBytes))
  }

  /** Lets the streams finish, then ends the connection. */
  close(): void {
    this.isClosing = true
    if (this.#streams.size > 0 || this.#queued.size > 0 || this.isClosed) return
    this.#outgoing.push(goAwayFrame('NO_ERROR'))
    this.#outgoing.flush()
    this.#socket.end(() => this.#socket.destroy())
  }

  /** Ends the connection and its streams. */
  destroy(error?: Error): void {
    this.#error ??= error
    this.isClosing = true
    this.#outgoing.flush()
    this.#socket.destroy()
  }

  pump(stream: ClientStream): void {
    if (stream.id === 0 || stream.isEndSent || stream.isClosed) return
    const { waiting } = stream
    while (waiting.length > 0) {
      const data = waiting[0]!
      const size = Math.min(data.length, maxFrameBytes, stream.sendWindow, this.#sendWindow)
      if (size <= 0 && data.length > 0) {
        this.#blocked.add(stream)
        return
      }
      if (size === data.length) waiting.shift()
      else waiting[0] = data.subarray(size)
      stream.isEndSent = stream.isFinished && waiting.length === 0
      stream.sendWindow -= size
      this.#sendWindow -= size
      const flag = stream.isEndSent ? flags.endStream : 0
      this.#outgoing.push(frameHead(size, frameTypes.data, flag, stream.id), data.subarray(0, size))
    }
    this.#blocked.delete(stream)
    if (!stream.isFinished || stream.isEndSent) return
    stream.isEndSent = true
    this.#outgoing.push(frameHead(0, frameTypes.data, flags.endStream, stream.id))
  }

  reset(stream: ClientStream): void {
    stream.isClosed = true
    this.#queued.delete(stream)
    if (stream.id > 0) this.#sendReset(stream)
    this.#remove(stream)
  }

  credit({ id }: ClientStream, bytes: number): void {
    if (this.#streams.has(id)) this.#outgoing.push(numbersFrame(frameTypes.windowUpdate, id, bytes))
  }

  #sendReset({ id }: ClientStream): void {
    this.#outgoing.push(numbersFrame(frameTypes.resetStream, id, http2Codes.indexOf('CANCEL')))
  }

  #start(stream: ClientStream): void {
    stream.id = this.#nextId
    stream.sendWindow = this.#initialWindow
    this.#nextId += 2
    if (this.#nextId > maxWindow) this.isClosing = true
    this.#streams.set(stream.id, stream)
    this.#outgoing.push(frameHead(stream.block.length, frameTypes.headers, flags.endHeaders, stream.id), stream.block)
    this.pump(stream)
  }

  #remove(stream: ClientStream): void {
    this.#streams.delete(stream.id)
    this.#blocked.delete(stream)
    this.#startQueued()
    if (this.isClosing) this.close()
  }

  #startQueued(): void {
    for (const stream of this.#queued) {
      if (this.#streams.size >= this.#maxStreams || this.isClosed) return
      this.#queued.delete(stream)
      this.#start(stream)
    }
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#process(frame)
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error
      this.#error ??= error
      this.#outgoing.push(goAwayFrame(error.code))
      this.destroy()
    }
  }

  #process(frame: Frame): void {
    const { type, streamId } = frame
    if (this.#block && (type !== frameTypes.continuation || streamId !== this.#block.streamId))
      throw broken('a block of headers was interrupted')
    if (!this.#hasSettings && type !== frameTypes.settings) throw broken('the first frame has no settings')
    switch (type) {
      case frameTypes.data:
        this.#data(frame)
        break
      case frameTypes.headers:
        this.#headers(frame)
        break
      case frameTypes.continuation:
        this.#continuation(frame)
        break
      case frameTypes.resetStream:
        this.#reset(streamId, codeNamed(numberIn(frame, 4)) !== 'REFUSED_STREAM')
        break
      case frameTypes.settings:
        this.#settings(frame)
        break
      case frameTypes.pushPromise:
        throw broken('a promise was pushed')
      case frameTypes.ping:
        this.#ping(frame)
        break
      case frameTypes.goAway:
        this.#goAway(frame)
        break
      case frameTypes.windowUpdate:
        this.#windowUpdate(streamId, numberIn(frame, 4) & maxWindow)
        break
    }
  }

  #data(frame: Frame): void {
    const { payload } = frame
    this.#received += payload.length
    if (this.#received >= this.#options.sessionWindow / 2) {
      this.#outgoing.push(numbersFrame(frameTypes.windowUpdate, 0, this.#received))
      this.#received = 0
    }
    const stream = this.#known(frame.streamId)
    if (!stream) return
    const isEnd = (frame.flags & flags.endStream) > 0
    stream.receive(contentOf(frame), payload.length)
    if (isEnd) this.#ended(stream)
  }

  #headers(frame: Frame): void {
    const { streamId } = frame
    const bytes = contentOf(frame)
    const isEnd = (frame.flags & flags.endStream) > 0
    if (frame.flags & flags.endHeaders) this.#decode(streamId, isEnd, bytes)
    else this.#block = { streamId, isEnd, bytes }
  }

  #continuation(frame: Frame): void {
    const block = this.#block
    if (!block) throw broken('headers continue that have not begun')
    block.bytes = Buffer.concat([block.bytes, frame.payload])
    if (block.bytes.length > maxBlockBytes) throw new Http2Error('ENHANCE_YOUR_CALM', 'a block of headers is too large')
    if (!(frame.flags & flags.endHeaders)) return
    this.#block = undefined
    this.#decode(block.streamId, block.isEnd, block.bytes)
  }

  /** Decodes headers of an ended stream, too, because they change the decoder's table. */
  #decode(streamId: number, isEnd: boolean, block: Buffer): void {
    const headers = this.#decoder.decode(block)
    const stream = this.#known(streamId)
    if (!stream) return
    stream.events.headers(headers)
    if (isEnd) this.#ended(stream)
  }

  /** Returns the stream; undefined if it has ended. Throws Http2Error if it never was. */
  #known(id: number): ClientStream | undefined {
    if (id % 2 === 0 || id >= this.#nextId) throw broken(`a frame names the stream ${id}, which was not opened`)
    return this.#streams.get(id)
  }

  #ended(stream: ClientStream): void {
    if (stream.isClosed) return
    if (!stream.isEndSent) this.#sendReset(stream)
    this.#remove(stream)
    stream.close({ mayHaveRun: true })
  }

  #reset(id: number, mayHaveRun: boolean): void {
    const stream = this.#known(id)
    if (!stream) return
    this.#remove(stream)
    stream.close({ mayHaveRun })
  }

  #settings({ flags: set, payload }: Frame): void {
    if (set & flags.ack) return
    if (payload.length % 6 > 0) throw new Http2Error('FRAME_SIZE_ERROR', 'the settings are incomplete')
    for (let at = 0; at < payload.length; at += 6) this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    this.#outgoing.push(frameHead(0, frameTypes.settings, flags.ack, 0))
    this.#startQueued()
    if (this.#hasSettings) return
    this.#hasSettings = true
    this.#options.settings()
  }

  #set(setting: number, value: number): void {
    if (setting === settings.maxConcurrentStreams) this.#maxStreams = value
    if (setting !== settings.initialWindowSize) return
    if (value > maxWindow) throw new Http2Error('FLOW_CONTROL_ERROR', 'the initial window is too large')
    for (const stream of this.#streams.values()) stream.widen(value - this.#initialWindow)
    this.#initialWindow = value
    for (const stream of [...this.#blocked]) this.pump(stream)
  }

  #ping({ flags: set, payload }: Frame): void {
    if (payload.length !== pingBytes) throw new Http2Error('FRAME_SIZE_ERROR', 'a ping has another size')
    if (set & flags.ack) this.#pings.shift()?.()
    else this.#outgoing.push(frameHead(pingBytes, frameTypes.ping, flags.ack, 0), payload)
  }

  /** The peer processes streams up to a number, and no others. */
  #goAway(frame: Frame): void {
    const last = numberIn(frame, 8) & maxWindow
    const code = codeNamed(frame.payload.readUInt32BE(4))
    const reason = frame.payload.toString('utf8', 8)
    if (code !== 'NO_ERROR') this.#error ??= new Http2Error(code, `the connection was ended: ${reason || code}`)
    this.isClosing = true
    const refused = [...this.#queued, ...[...this.#streams.values()].filter(({ id }) => id > last)]
    this.#queued.clear()
    for (const stream of refused) this.#streams.delete(stream.id)
    for (const stream of refused) stream.close({ mayHaveRun: false, cause: this.#error })
    this.close()
  }

  #windowUpdate(streamId: number, bytes: number): void {
    if (streamId > 0) {
      const stream = this.#known(streamId)
      stream?.widen(bytes)
      if (stream && this.#blocked.has(stream)) this.pump(stream)
      return
    }
    this.#sendWindow += bytes
    if (this.#sendWindow > maxWindow) throw new Http2Error('FLOW_CONTROL_ERROR', 'the window is too large')
    for (const stream of [...this.#blocked]) this.pump(stream)
  }

  #end(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.isClosing = true
    const streams = [...this.#streams.values(), ...this.#queued]
    this.#streams.clear()
    this.#queued.clear()
    for (const stream of streams) stream.close({ mayHaveRun: stream.id > 0, cause: this.#error })
    this.#options.closed(this.#error)
  }
}

const broken = (problem: string): Http2Error => new Http2Error('PROTOCOL_ERROR', problem)

/** Returns the first number in a payload of at least `bytes`. Throws Http2Error. */
function numberIn({ payload }: Frame, bytes: number): number {
  if (payload.length < bytes) throw new Http2Error('FRAME_SIZE_ERROR', 'a frame is too short')
  return payload.readUInt32BE(0)
}

const goAwayFrame = (code: Http2Error['code']): Buffer =>
  numbersFrame(frameTypes.goAway, 0, 0, http2Codes.indexOf(code))
