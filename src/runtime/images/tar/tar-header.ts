/** Headers of tar archives: 512 bytes with numbers in octal or base 256 (POSIX ustar, GNU, and the old format). */
import { corruptContent } from '../image-error.ts'
import type { SparsePart } from './tar-entry.ts'

export const blockBytes = 512

export interface TarHeader {
  readonly name: string
  readonly linkName: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Of the content that follows, in bytes. */
  readonly size: number
  readonly mtime: number
  /** One character: `0` for files. */
  readonly flag: string
  readonly major: number
  readonly minor: number
}

const field = (block: Buffer, start: number, length: number): string => {
  const end = block.indexOf(0, start)
  return block.toString('latin1', start, end < 0 || end > start + length ? start + length : end)
}

/** Octal with blanks or NUL around it, or base 256 if the highest bit is set. */
export function numberOf(block: Buffer, start: number, length: number): number {
  const first = block[start]!
  if (first < 0x80) return Number.parseInt(field(block, start, length).trim() || '0', 8)
  let value = first & 0x40 ? (first & 0x3f) - 0x40 : first & 0x3f
  for (let i = start + 1; i < start + length; i++) value = value * 256 + block[i]!
  return value
}

/** Throws an ImageError for a block that is not a header. */
export function decodeHeader(block: Buffer): TarHeader {
  if (!hasChecksum(block)) throw corruptContent('the archive is damaged: a header has a wrong checksum')
  const magic = block.toString('latin1', 257, 263)
  // GNU's format has times where POSIX has the beginning of long names.
  const prefix = magic === 'ustar\0' ? field(block, 345, 155) : ''
  const name = field(block, 0, 100)
  const hasDevices = magic.startsWith('ustar')
  const header = {
    name: prefix ? `${prefix}/${name}` : name,
    mode: numberOf(block, 100, 8),
    uid: numberOf(block, 108, 8),
    gid: numberOf(block, 116, 8),
    size: numberOf(block, 124, 12),
    mtime: numberOf(block, 136, 12),
    flag: block.toString('latin1', 156, 157),
    linkName: field(block, 157, 100),
    major: hasDevices ? numberOf(block, 329, 8) : 0,
    minor: hasDevices ? numberOf(block, 337, 8) : 0,
  }
  for (const number of [header.mode, header.uid, header.gid, header.size, header.major, header.minor])
    if (!Number.isSafeInteger(number) || number < 0)
      throw corruptContent('the archive is damaged: a number is not valid')
  if (!Number.isFinite(header.mtime)) throw corruptContent('the archive is damaged: a time is not valid')
  return header
}

/** The sum of all bytes, with blanks in place of the sum itself. */
function hasChecksum(block: Buffer): boolean {
  let sum = 8 * 0x20
  for (let i = 0; i < 148; i++) sum += block[i]!
  for (let i = 156; i < blockBytes; i++) sum += block[i]!
  return sum === numberOf(block, 148, 8)
}

export const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0)

/** The parts in a header of GNU's old sparse format or its extension; those with a length of zero end the list. */
export function sparseParts(block: Buffer, start: number, count: number): SparsePart[] {
  const parts: SparsePart[] = []
  for (let at = start; at < start + count * 24; at += 24) {
    if (block[at] === 0) break
    parts.push({ offset: numberOf(block, at, 12), length: numberOf(block, at + 12, 12) })
  }
  return parts
}

/** True for a block that begins an archive. */
export const isArchiveHeader = (block: Buffer): boolean => !isZero(block) && hasChecksum(block)
