/**
 * A WebSocket that carries several numbered channels: each message begins with the number of its channel
 * (k8s.io/streaming, wsstream). A channel that is not read pauses the WebSocket.
 */
import type { RawData, WebSocket } from 'ws'
import { Substream } from '../substream.ts'

export interface ChannelFormat {
  /** True if messages are text: the number as a digit, the data in base64. */
  readonly isText: boolean
  /** True if the client can end a channel: a message of 255 and its number (KEP-4006). */
  readonly canEndChannels: boolean
}

const endSignal = 255
const digitZero = 48
const [normalClosure, protocolError] = [1000, 1002]

export class ChannelConnection {
  readonly #socket: WebSocket
  readonly #format: ChannelFormat
  readonly #channels = new Map<number, Substream>()
  readonly #closed = new AbortController()
  /** The number of deliveries that wait for readers. */
  #waiting = 0

  constructor(socket: WebSocket, format: ChannelFormat) {
    this.#socket = socket
    this.#format = format
    socket.on('message', (message) => this.#receive(bytesOf(message)))
    socket.on('close', () => {
      this.#disconnectChannels()
      this.#closed.abort()
    })
  }

  /** True if the client can end a channel while it goes on reading. */
  get canEndChannels(): boolean {
    return this.#format.canEndChannels
  }

  /** Aborted when the connection is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal
  }

  /** Begins to read messages. Call it when the channels are open. */
  start(): void {
    this.#socket.resume()
  }

  /** Opens a channel, which must be read. Data for channels that are not open is dropped. */
  open(channel: number): Substream {
    const stream = new Substream({
      send: (data, sent) => this.#send(channel, data, sent),
      // Only clients can announce the end of a channel.
      sendEnd: (sent) => sent(),
      closed: () => this.#channels.delete(channel),
    })
    this.#channels.set(channel, stream)
    if (this.#socket.readyState !== this.#socket.OPEN) stream.disconnect()
    return stream
  }

  /** Opens a channel to write; data from the client is dropped. */
  openForWriting(channel: number): Substream {
    return this.open(channel).resume()
  }

  /** Sends a message without data, as a sign that the channels are open. */
  announce(channel: number): void {
    this.#send(channel, Buffer.alloc(0), () => {})
  }

  /** Closes the connection after all writes of its channels. Data that still arrives is dropped. */
  close(): void {
    this.#disconnectChannels()
    this.#socket.close(normalClosure)
    this.#socket.resume()
  }

  #disconnectChannels(): void {
    const channels = [...this.#channels.values()]
    this.#channels.clear()
    for (const channel of channels) channel.disconnect()
  }

  #receive(message: Buffer): void {
    if (message.length === 0) return
    if (this.#format.canEndChannels && message[0] === endSignal) {
      if (message.length === 2) this.#channels.get(message[1]!)?.deliverEnd()
      else this.#socket.close(protocolError)
      return
    }
    const { isText } = this.#format
    const data = message.subarray(1)
    const isFull = this.#channels
      .get(isText ? message[0]! - digitZero : message[0]!)
      ?.deliver(isText ? Buffer.from(data.toString('latin1'), 'base64') : data)
    if (isFull) this.#pauseUntil(isFull)
  }

  #pauseUntil(drained: Promise<void>): void {
    this.#waiting++
    this.#socket.pause()
    void drained.then(() => {
      if (--this.#waiting === 0) this.#socket.resume()
    })
  }

  /** `sent` is not called if the WebSocket is closed, as the channels end with it. */
  #send(channel: number, data: Buffer, sent: () => void): void {
    const message = this.#format.isText
      ? `${channel}${data.toString('base64')}`
      : Buffer.concat([Buffer.of(channel), data])
    this.#socket.send(message, (error) => !error && sent())
  }
}

function bytesOf(message: RawData): Buffer {
  if (Array.isArray(message)) return Buffer.concat(message)
  return Buffer.isBuffer(message) ? message : Buffer.from(message)
}
