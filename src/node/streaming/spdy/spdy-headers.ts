/**
 * Header blocks of SPDY/3.1: names and values, compressed with a well-known dictionary and one context per connection.
 */
import { constants, createInflate, type Inflate } from 'node:zlib'

export type SpdyHeaders = Readonly<Record<string, string>>

const dictionaryWords = (
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age ' +
  'allow authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status'
).split(' ')
const dictionaryTail = '200 OK|version|HTTP/1.1|url|public|set-cookie|keep-alive|origin'.split('|')
const dictionaryText =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 ' +
  'Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,' +
  'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

/** draft-mbelshe-httpbis-spdy-00, 2.6.10.1. */
export const spdyDictionary = Buffer.concat([
  ...[...dictionaryWords, ...dictionaryTail].flatMap((word) => [uint32(word.length), Buffer.from(word)]),
  Buffer.from(dictionaryText),
])

/** Larger blocks are rejected as an attack. */
const maxBytes = 256 * 1024

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Reads the blocks of one connection in order. */
export class HeaderReader {
  readonly #inflate: Inflate = createInflate({ dictionary: spdyDictionary })
  #pieces: Buffer[] = []
  #size = 0

  constructor() {
    this.#inflate.on('data', (piece: Buffer) => {
      this.#size += piece.length
      if (this.#size <= maxBytes) this.#pieces.push(piece)
    })
    // Errors are passed to the pending read.
    this.#inflate.on('error', () => {})
  }

  /** Rejects for an invalid block. Names are in lower case. */
  async read(block: Buffer): Promise<SpdyHeaders> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#inflate.once('error', reject)
    this.#inflate.write(block)
    this.#inflate.flush(constants.Z_SYNC_FLUSH, () => resolve())
    await promise
    this.#inflate.off('error', reject)
    if (this.#size > maxBytes) throw new Error('headers are too large')
    const plain = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#size = 0
    return parse(plain)
  }

  close(): void {
    this.#inflate.destroy()
  }
}

function parse(plain: Buffer): SpdyHeaders {
  let at = 4
  const text = (): string => {
    const length = plain.readUInt32BE(at)
    at += 4 + length
    return plain.toString('utf8', at - length, at)
  }
  const headers: Record<string, string> = {}
  for (let count = plain.readUInt32BE(0); count > 0; count--) {
    const name = text().toLowerCase()
    headers[name] = text()
  }
  return headers
}

/** The head of a compressed stream that uses the dictionary: zlib's flags and the dictionary's checksum. */
const compressionHead = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])
/** An empty block of the compression, which makes Go's decompressor return everything before it. */
const flushed = Buffer.from([0, 0, 0, 0xff, 0xff])

/** A block of headers, not compressed. `isFirst` for the first block that a side of a connection sends. */
export function headerBlock(headers: SpdyHeaders, isFirst: boolean): Buffer {
  const entries = Object.entries(headers)
  const texts = entries.flat().flatMap((text) => [uint32(Buffer.byteLength(text)), Buffer.from(text)])
  const plain = Buffer.concat([uint32(entries.length), ...texts])
  const stored = Buffer.alloc(5)
  stored.writeUInt16LE(plain.length, 1)
  stored.writeUInt16LE(0xffff ^ plain.length, 3)
  return Buffer.concat([...(isFirst ? [compressionHead] : []), stored, plain, flushed])
}
