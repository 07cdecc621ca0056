/** HTTP/2 frames (RFC 9113) and header blocks (RFC 7541, uncompressed), for clients that violate the protocol. */
import { token } from './attacked-server.ts'

const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 } as const
const endStream = 0x1
const endHeaders = 0x4

export function frame(
  type: keyof typeof types,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = types[type]
  header[4] = flags
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

/** The client preface (RFC 9113, 3.4) with a SETTINGS frame. */
export function preface(...settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6)
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * 6)
    payload.writeUInt32BE(value, i * 6 + 2)
  })
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', 0, 0, payload)])
}

export const initialWindowSize = 4

/** A string literal without Huffman coding (RFC 7541, 5.2): its length with a 7-bit prefix, then its bytes. */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

export const headerBlock = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]))

/** The header block of a request of the administrator. */
export const requestBlock = (method: string, path: string, headers: Readonly<Record<string, string>> = {}): Buffer =>
  headerBlock({
    ':method': method,
    ':scheme': 'https',
    ':authority': 'x',
    ':path': path,
    authorization: `Bearer ${token}`,
    ...headers,
  })

/** A HEADERS frame that opens a stream. */
export const request = (stream: number, block: Buffer, ends = true): Buffer =>
  frame('headers', endHeaders | (ends ? endStream : 0), stream, block)

/** RST_STREAM with CANCEL. */
export const reset = (stream: number): Buffer => frame('reset', 0, stream, Buffer.from([0, 0, 0, 8]))

export const data = (stream: number, bytes: Buffer, ends = false): Buffer =>
  frame('data', ends ? endStream : 0, stream, bytes)
