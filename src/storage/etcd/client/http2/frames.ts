/** Frames of HTTP/2 (RFC 9113, sections 4 and 6). */
import { Http2Error } from './http2-error.ts'

export const frameTypes = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flags = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const

export const settings = { enablePush: 2, maxConcurrentStreams: 3, initialWindowSize: 4, maxFrameSize: 5 } as const

/** The first bytes of a client. */
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** The largest payload of a frame in both directions, in bytes. Every peer accepts it. */
export const maxFrameBytes = 16_384
/** The largest window, and the largest number of a stream. */
export const maxWindow = 2 ** 31 - 1

const headBytes = 9

/** Returns the head of a frame, with `more` bytes for a payload. */
export function frameHead(length: number, type: number, flag: number, streamId: number, more = 0): Buffer {
  const head = Buffer.allocUnsafe(headBytes + more)
  head.writeUIntBE(length, 0, 3)
  head[3] = type
  head[4] = flag
  head.writeUInt32BE(streamId, 5)
  return head
}

/** Returns a frame whose payload is 32-bit numbers. */
export function numbersFrame(type: number, streamId: number, ...numbers: readonly number[]): Buffer {
  const frame = frameHead(4 * numbers.length, type, 0, streamId, 4 * numbers.length)
  for (const [i, number] of numbers.entries()) frame.writeUInt32BE(number, headBytes + 4 * i)
  return frame
}

export function settingsFrame(values: readonly (readonly [setting: number, value: number])[]): Buffer {
  const frame = frameHead(6 * values.length, frameTypes.settings, 0, 0, 6 * values.length)
  for (const [i, [setting, value]] of values.entries()) {
    frame.writeUInt16BE(setting, headBytes + 6 * i)
    frame.writeUInt32BE(value, headBytes + 6 * i + 2)
  }
  return frame
}

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  /** Shares the memory of what was received. */
  readonly payload: Buffer
}

/** Splits received bytes into frames. */
export class FrameSplitter {
  #rest: Buffer | undefined;

  /** Yields the frames that are complete with `chunk`. Throws Http2Error. */
  *push(chunk: Buffer): Iterable<Frame> {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    let at = 0
    while (bytes.length - at >= headBytes) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
      if (length > maxFrameBytes) throw new Http2Error('FRAME_SIZE_ERROR', `a frame has ${length} bytes`)
      const start = at + headBytes
      if (bytes.length < start + length) break
      yield {
        type: bytes[at + 3]!,
        flags: bytes[at + 4]!,
        streamId: bytes.readUInt32BE(at + 5) & maxWindow,
        payload: bytes.subarray(start, start + length),
      }
      at = start + length
    }
    this.#rest = at < bytes.length ? bytes.subarray(at) : undefined
  }
}

/** Returns the payload of a frame without padding and priority. Throws Http2Error. */
export function contentOf({ type, flags: set, payload }: Frame): Buffer {
  if (!(set & (flags.padded | flags.priority))) return payload
  let start = 0
  let padding = 0
  if (set & flags.padded) padding = payload[start++] ?? 0
  if (type === frameTypes.headers && set & flags.priority) start += 5
  if (start + padding > payload.length) throw new Http2Error('PROTOCOL_ERROR', 'a frame has more padding than bytes')
  return payload.subarray(start, payload.length - padding)
}
