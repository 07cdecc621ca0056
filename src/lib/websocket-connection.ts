/** The server side of a WebSocket (RFC 6455): sends and receives complete messages. */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const [continuation, text, binary, closing, pinging, ponging] = [0x0, 0x1, 0x2, 0x8, 0x9, 0xa]
/** Maximum size of a message. */
const maxBytes = 1024 * 1024

/** The value of `Sec-WebSocket-Accept` for a key. */
export const acceptOf = (key: string): string => createHash('sha1').update(`${key}${magic}`).digest('base64')

export class WebSocketConnection {
  readonly #socket: Duplex
  readonly #message: (data: Buffer) => void
  #buffer: Buffer = Buffer.alloc(0)
  #parts: Buffer[] = []
  #closed: () => void = () => {}

  /** `message` is called with each message; `head` is data that was already received. */
  constructor(socket: Duplex, head: Buffer, message: (data: Buffer) => void) {
    this.#socket = socket
    this.#message = message
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#closed())
    // The client has closed without a close frame.
    socket.on('end', () => socket.end())
    if (head.length > 0) this.#take(head)
  }

  onClose(callback: () => void): void {
    this.#closed = callback
  }

  send(data: Buffer): void {
    this.#write(binary, data)
  }

  sendText(data: string): void {
    this.#write(text, Buffer.from(data))
  }

  /** Closes with the status 1000 (normal). */
  close(): void {
    this.#write(closing, Buffer.from([0x03, 0xe8]))
    this.#socket.end()
  }

  #write(opcode: number, data: Buffer): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    const length =
      data.length < 126
        ? Buffer.from([data.length])
        : data.length < 65_536
          ? lengthBytes(126, data.length, 2)
          : lengthBytes(127, data.length, 8)
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode]), length, data]))
  }

  #take(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    for (let size = this.#frame(); size > 0; size = this.#frame()) this.#buffer = this.#buffer.subarray(size)
  }

  /** Handles the first frame. Returns its size, or 0 if it is incomplete. */
  #frame(): number {
    const buffer = this.#buffer
    if (buffer.length < 2) return 0
    const short = buffer[1]! & 0x7f
    const at = short < 126 ? 2 : short === 126 ? 4 : 10
    if (buffer.length < at + 4) return 0
    const length = short < 126 ? short : short === 126 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2))
    // Clients must mask their frames.
    if (length > maxBytes || !(buffer[1]! & 0x80)) {
      this.#socket.destroy()
      return 0
    }
    if (buffer.length < at + 4 + length) return 0
    const mask = buffer.subarray(at, at + 4)
    const data = Buffer.from(buffer.subarray(at + 4, at + 4 + length))
    for (let i = 0; i < data.length; i++) data[i] = data[i]! ^ mask[i & 3]!
    this.#handle(buffer[0]! & 0x0f, (buffer[0]! & 0x80) !== 0, data)
    return at + 4 + length
  }

  #handle(opcode: number, isLast: boolean, data: Buffer): void {
    if (opcode === closing) this.close()
    else if (opcode === pinging) this.#write(ponging, data)
    else if (opcode !== ponging) {
      if (opcode !== continuation) this.#parts = []
      this.#parts.push(data)
      if (isLast) this.#message(Buffer.concat(this.#parts.splice(0)))
    }
  }
}

function lengthBytes(marker: number, length: number, size: 2 | 8): Buffer {
  const bytes = Buffer.alloc(1 + size)
  bytes[0] = marker
  if (size === 2) bytes.writeUInt16BE(length, 1)
  else bytes.writeBigUInt64BE(BigInt(length), 1)
  return bytes
}
