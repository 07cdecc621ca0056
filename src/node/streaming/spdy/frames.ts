/** Frames of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00, 2.2). */

export type Frame =
  | {
      readonly kind: 'control'
      readonly type: number
      readonly flags: number
      readonly body: Buffer
    }
  /** A part of a data frame, as it arrives. */
  | {
      readonly kind: 'data'
      readonly streamId: number
      readonly data: Buffer
      /** True if the client sends no more data on the stream. */
      readonly isLast: boolean
    }

export const [synStream, synReply, rstStream, ping, goAway, headersFrame] = [1, 2, 3, 6, 7, 8]
export const finFlag = 1

const version = 3
const headBytes = 8
const maxControlBytes = 64 * 1024

const nothing = Buffer.alloc(0)

/** The head of a frame whose body has not arrived completely. */
interface Head {
  readonly isControl: boolean
  /** The type of a control frame, or the stream of a data frame. */
  readonly subject: number
  readonly flags: number
  remaining: number
}

/** Splits the bytes of a connection into frames. It buffers control frames only. */
export class FrameSplitter {
  #buffered: Buffer = nothing
  #head: Head | undefined;

  /** The frames that a chunk contains or completes. Throws for a control frame that is too large. */
  *split(chunk: Buffer): Generator<Frame> {
    let rest = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk])
    for (;;) {
      if (!this.#head) {
        if (rest.length < headBytes) break
        this.#head = readHead(rest)
        rest = rest.subarray(headBytes)
      }
      const { isControl, subject, flags, remaining } = this.#head
      if (isControl ? rest.length < remaining : rest.length === 0 && remaining > 0) break
      const body = rest.subarray(0, remaining)
      rest = rest.subarray(body.length)
      this.#head.remaining -= body.length
      const isComplete = this.#head.remaining === 0
      if (isComplete) this.#head = undefined
      yield isControl
        ? { kind: 'control', type: subject, flags, body }
        : { kind: 'data', streamId: subject, data: body, isLast: isComplete && (flags & finFlag) !== 0 }
    }
    this.#buffered = rest.length === 0 ? nothing : rest
  }
}

function readHead(bytes: Buffer): Head {
  const isControl = (bytes[0]! & 0x80) !== 0
  const remaining = bytes.readUIntBE(5, 3)
  if (isControl && remaining > maxControlBytes) throw new Error('a control frame is too large')
  return {
    isControl,
    subject: isControl ? bytes.readUInt16BE(2) : bytes.readUInt32BE(0),
    flags: bytes[4]!,
    remaining,
  }
}

/** The maximum size of a data frame, in bytes: other streams may send in between. */
export const maxDataBytes = 64 * 1024

export function dataHead(streamId: number, length: number, flags: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(streamId, 0)
  head.writeUInt32BE(length, 4)
  head[4] = flags
  return head
}

export function controlFrame(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt32BE(body.length, 4)
  return Buffer.concat([head, body])
}

export const streamIdOf = (body: Buffer): number => body.readUInt32BE(0) & 0x7fff_ffff
