/**
 * A minimal HTTP/2 client for the warm-up (RFC 9113, and RFC 7541 for headers): reads responses to their end and
 * discards them, including header blocks. Node's client takes half the time of the server, and each request leaves 3 KB
 * that only a full garbage collection frees (docs/decisions/0009).
 */
import type { Duplex } from 'node:stream'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** Types and flags of frames, and the error code of a cancelled stream. */
const data = 0x0
const headers = 0x1
const rstStream = 0x3
const settings = 0x4
const ping = 0x6
const windowUpdate = 0x8
const endStream = 0x1
const ack = 0x1
const endHeaders = 0x4
const cancel = 8
const headBytes = 9

const initialWindowSize = 4
const defaultWindow = 65_535
const largestWindow = 0x7fff_ffff

export interface FrameRequest {
  readonly headers: Readonly<Record<string, string>>
  /** At most 16 KB: one frame. */
  readonly body?: Buffer
  /** Cancelled as soon as its response begins. */
  readonly isWatch?: boolean
}

export class FrameClient {
  readonly #transport: Duplex
  /** Pending requests by stream. */
  readonly #waiting = new Map<number, { readonly isWatch: boolean; ended(): void }>()
  /** The received part of an incomplete frame. */
  #rest: Buffer = Buffer.alloc(0)
  #streams = 0

  constructor(transport: Duplex) {
    this.#transport = transport
    transport.on('data', (chunk: Buffer) => this.#read(chunk))
    transport.on('end', () => transport.destroy())
    transport.on('close', () => {
      for (const { ended } of this.#waiting.values()) ended()
    })
    const window = Buffer.alloc(6)
    window.writeUInt16BE(initialWindowSize)
    window.writeUInt32BE(largestWindow, 2)
    transport.write(
      Buffer.concat([
        preface,
        frame(settings, 0, 0, window),
        frame(windowUpdate, 0, 0, uint32(largestWindow - defaultWindow)),
      ]),
    )
  }

  /**
   * Sends a request. Resolves when the response has ended, or the connection is closed. Ignores the server's flow
   * control windows: it extends them when half is used, and a few small bodies at a time never reach that.
   */
  request({ headers: fields, body, isWatch = false }: FrameRequest): Promise<void> {
    if (this.#transport.destroyed) return Promise.resolve()
    const stream = this.#streams++ * 2 + 1
    const head = frame(headers, body ? endHeaders : endHeaders | endStream, stream, headerBlock(fields))
    this.#transport.write(body ? Buffer.concat([head, frame(data, endStream, stream, body)]) : head)
    return new Promise((ended) => this.#waiting.set(stream, { isWatch, ended }))
  }

  close(): void {
    this.#transport.destroy()
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let at = 0
    while (bytes.length - at >= headBytes) {
      const end = at + headBytes + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      this.#take(bytes[at + 3]!, bytes[at + 4]!, bytes.readUInt32BE(at + 5), bytes.subarray(at + headBytes, end))
      at = end
    }
    this.#rest = bytes.subarray(at)
  }

  #take(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === settings && !(flags & ack)) this.#transport.write(frame(settings, ack, 0, Buffer.alloc(0)))
    else if (type === ping && !(flags & ack)) this.#transport.write(frame(ping, ack, 0, payload))
    else if (type === rstStream || ((type === headers || type === data) && flags & endStream)) this.#end(stream)
    else if (type === headers && this.#waiting.get(stream)?.isWatch) {
      this.#transport.write(frame(rstStream, 0, stream, uint32(cancel)))
      this.#end(stream)
    }
  }

  #end(stream: number): void {
    this.#waiting.get(stream)?.ended()
    this.#waiting.delete(stream)
  }
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  payload.copy(bytes, headBytes)
  return bytes
}

/**
 * Encodes headers as literal fields without indexing, the simplest encoding. Names and values must be shorter than 127
 * bytes.
 */
function headerBlock(fields: Readonly<Record<string, string>>): Buffer {
  let block = ''
  for (const [name, value] of Object.entries(fields)) block += `\0${literal(name)}${literal(value)}`
  return Buffer.from(block, 'latin1')
}

function literal(text: string): string {
  return String.fromCharCode(text.length) + text
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value)
  return bytes
}
