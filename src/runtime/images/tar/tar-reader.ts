/**
 * Reads tar archives that arrive in chunks: ustar, pax, GNU's long names and sparse files. Synchronous, because layers
 * are unpacked on threads of their own. (`tar-stream` decodes attributes and names as UTF-8, which damages
 * `security.capability`, and knows no sparse files.)
 */
import { corruptContent } from '../image-error.ts'
import { decodePax, type PaxRecords, pairsOf, paxAttributes, paxNumber, paxSparseParts, paxTime } from './pax.ts'
import type { SparsePart, TarEntry, TarEntryType } from './tar-entry.ts'
import { blockBytes, decodeHeader, isZero, numberOf, sparseParts, type TarHeader } from './tar-header.ts'

export interface TarHandler {
  /** Called for each entry, before its content. */
  entry(entry: TarEntry): void
  /** Called for each piece of a file's content with its position in the file. */
  data(chunk: Buffer, position: number): void
  /** Called after the content of each entry. */
  end(): void
}

/** Longer names and attributes are rejected, in bytes. */
const maxMetaBytes = 1024 * 1024
const maxSparseParts = 100_000

const types: Readonly<Record<string, TarEntryType>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  S: 'file',
  '1': 'hard-link',
  '2': 'symlink',
  '3': 'character',
  '4': 'block',
  '5': 'directory',
  '6': 'fifo',
}

/** Consumes a part of its content of stated length. */
type Step = (bytes: Buffer) => void

export class TarReader {
  readonly #handler: TarHandler
  /** Bytes that a step waits for. */
  #wanted = blockBytes
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #step: Step = (block) => this.#header(block)
  /** Content of a file that has not arrived yet, in bytes. */
  #remaining = 0
  #padding = 0
  #parts: readonly SparsePart[] = []
  #partIndex = 0
  #partOffset = 0
  #globals: PaxRecords = new Map()
  #records: PaxRecords | undefined
  #longName: string | undefined
  #longLinkName: string | undefined
  #isEnded = false
  #isBetweenEntries = true

  constructor(handler: TarHandler) {
    this.#handler = handler
  }

  /** Takes the next bytes. Throws an ImageError for an archive that is not valid, and what the handler throws. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isEnded)
      at = this.#remaining > 0 ? this.#content(chunk, at) : this.#collect(chunk, at)
  }

  /** Throws an ImageError if the archive is not complete. */
  finish(): void {
    if (!this.#isEnded && (!this.#isBetweenEntries || this.#waitingBytes > 0 || this.#remaining > 0))
      throw corruptContent('the archive ends too early')
  }

  /** Collects the bytes of a step, and returns the position after them. */
  #collect(chunk: Buffer, at: number): number {
    const missing = this.#wanted - this.#waitingBytes
    const part = chunk.subarray(at, at + missing)
    if (part.length < missing) {
      // The chunk belongs to the caller, who may reuse it.
      this.#waiting.push(Buffer.from(part))
      this.#waitingBytes += part.length
      return chunk.length
    }
    const bytes = this.#waiting.length === 0 ? part : Buffer.concat([...this.#waiting.splice(0), part])
    this.#waitingBytes = 0
    this.#step(bytes)
    return at + part.length
  }

  #content(chunk: Buffer, at: number): number {
    const part = this.#parts[this.#partIndex]!
    const length = Math.min(chunk.length - at, part.length - this.#partOffset)
    if (length > 0) this.#handler.data(chunk.subarray(at, at + length), part.offset + this.#partOffset)
    this.#remaining -= length
    this.#partOffset += length
    if (this.#partOffset === part.length) {
      this.#partIndex++
      this.#partOffset = 0
    }
    if (this.#remaining === 0) this.#endEntry()
    return at + length
  }

  #endEntry(): void {
    this.#handler.end()
    if (this.#padding > 0) this.#expect(this.#padding, () => this.#expectHeader())
    else this.#expectHeader()
  }

  #expect(length: number, step: Step): void {
    this.#wanted = length
    this.#step = step
  }

  #expectHeader(): void {
    this.#isBetweenEntries = true
    this.#expect(blockBytes, (block) => this.#header(block))
  }

  #header(block: Buffer): void {
    if (isZero(block)) {
      // Two zero blocks end the archive; bytes after them have no meaning.
      this.#expect(blockBytes, (second) => {
        if (isZero(second)) this.#isEnded = true
        else this.#header(second)
      })
      return
    }
    const header = decodeHeader(block)
    this.#isBetweenEntries = false
    if ('xgLK'.includes(header.flag)) this.#expectMeta(header)
    else if (header.flag === 'S') this.#oldSparse(header, block)
    else this.#begin(header)
  }

  /** A header whose content describes the next entry. */
  #expectMeta({ flag, size }: TarHeader): void {
    if (size > maxMetaBytes) throw corruptContent(`the archive has a header of ${size} bytes`)
    const take: Step = (padded) => {
      const bytes = padded.subarray(0, size)
      if (flag === 'g') this.#globals = new Map([...this.#globals, ...decodePax(bytes)])
      else if (flag === 'x') this.#records = decodePax(bytes)
      else {
        const [text = ''] = bytes.toString('latin1').split('\0', 1)
        if (flag === 'L') this.#longName = text
        else this.#longLinkName = text
      }
      this.#expect(blockBytes, (block) => this.#header(block))
    }
    if (size === 0) take(Buffer.alloc(0))
    else this.#expect(size + paddingOf(size), take)
  }

  /** GNU's old format has four parts in the header, and more in extensions. */
  #oldSparse(header: TarHeader, block: Buffer): void {
    const parts = sparseParts(block, 386, 4)
    const realSize = numberOf(block, 483, 12)
    const extend: Step = (extension) => {
      parts.push(...sparseParts(extension, 0, 21))
      if (parts.length > maxSparseParts) throw corruptContent('a sparse file has too many parts')
      if (extension[504]) this.#expect(blockBytes, extend)
      else this.#begin(header, { parts, realSize })
    }
    if (block[482]) this.#expect(blockBytes, extend)
    else this.#begin(header, { parts, realSize })
  }

  #begin(header: TarHeader, sparse?: { readonly parts: readonly SparsePart[]; readonly realSize: number }): void {
    const records: PaxRecords = this.#records ? new Map([...this.#globals, ...this.#records]) : this.#globals
    const stored = paxNumber(records, 'size') ?? header.size
    const names = {
      name: this.#longName ?? records.get('path') ?? header.name,
      linkName: this.#longLinkName ?? records.get('linkpath') ?? header.linkName,
    }
    this.#records = this.#longName = this.#longLinkName = undefined
    const entry = entryOf({ ...header, ...names }, records)
    const size = entry.type === 'file' ? stored : 0
    if (entry.type === 'file' && records.get('GNU.sparse.major') === '1') {
      this.#sparseMap(entry, records, size)
      return
    }
    const realSize =
      sparse?.realSize ?? paxNumber(records, 'GNU.sparse.size') ?? paxNumber(records, 'GNU.sparse.realsize')
    const parts = sparse?.parts ?? paxSparseParts(records)
    this.#emit({ ...entry, size: parts ? (realSize ?? size) : size }, parts ?? [{ offset: 0, length: size }], size)
  }

  /** GNU's sparse format 1.0 begins the content with the map: decimal numbers, one a line. */
  #sparseMap(entry: TarEntry, records: PaxRecords, stored: number): void {
    let text = ''
    let used = 0
    const read: Step = (block) => {
      text += block.toString('latin1')
      used += blockBytes
      const lines = text.split('\n')
      const count = Number(lines[0])
      const isComplete = lines.length > 1 && lines.length > 1 + 2 * count
      if (used > stored || (lines.length > 1 && !(count >= 0 && count <= maxSparseParts)))
        throw corruptContent('the map of a sparse file is not valid')
      if (!isComplete) {
        this.#expect(blockBytes, read)
        return
      }
      const parts = pairsOf(lines.slice(1, 1 + 2 * count).map(Number))
      const size = paxNumber(records, 'GNU.sparse.realsize') ?? 0
      const name = records.get('GNU.sparse.name') ?? entry.name
      this.#emit({ ...entry, name, size }, parts, stored - used)
    }
    this.#expect(blockBytes, read)
  }

  #emit(entry: TarEntry, parts: readonly SparsePart[], stored: number): void {
    checkParts(parts, entry.size, stored)
    this.#parts = parts
    this.#partIndex = this.#partOffset = 0
    this.#remaining = stored
    this.#padding = paddingOf(stored)
    this.#handler.entry(entry)
    if (stored === 0) this.#endEntry()
  }
}

const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes

function entryOf(header: TarHeader, records: PaxRecords): TarEntry {
  const { name, linkName, flag, mode, uid, gid, mtime, major, minor } = header
  const type = types[flag]
  if (!type) throw corruptContent(`the archive has an entry of the unknown type ${JSON.stringify(flag)}: ${name}`)
  return {
    // Old archives mark folders by a slash only.
    type: type === 'file' && flag !== 'S' && name.endsWith('/') ? 'directory' : type,
    name: records.get('GNU.sparse.name') ?? name,
    linkName,
    mode: mode & 0o7777,
    uid: paxNumber(records, 'uid') ?? uid,
    gid: paxNumber(records, 'gid') ?? gid,
    size: 0,
    ...(paxTime(records, 'mtime') ?? { mtime, mtimeNs: 0 }),
    major,
    minor,
    xattrs: paxAttributes(records),
  }
}

/** Throws an ImageError if parts overlap, are outside of the file, or do not add up to the content. */
function checkParts(parts: readonly SparsePart[], size: number, stored: number): void {
  let end = 0
  let sum = 0
  for (const { offset, length } of parts) {
    if (!(Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= end && length >= 0))
      throw corruptContent('the map of a sparse file is not valid')
    end = offset + length
    sum += length
  }
  if (end > size || sum !== stored) throw corruptContent('the map of a sparse file is not valid')
}
