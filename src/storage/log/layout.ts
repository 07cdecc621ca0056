/**
 * The layout of the log's files, little-endian. A segment is a header and batches, followed by an index once it is
 * full. A batch is the content of one durable write: all of it counts or nothing. A record is one version of one key,
 * or a mark; its bytes stay the same when it is moved. A snapshot has another header and the same batches.
 */
import { crc32 } from 'node:zlib'

/** Increases when the layout changes. */
export const formatVersion = 1
export const fileHeaderBytes = 64
export const blockHeaderBytes = 24
export const recordHeadBytes = 20

export const kinds = { put: 0, delete: 1, compacted: 2, oldest: 3, end: 4 } as const
export type Kind = (typeof kinds)[keyof typeof kinds]

/** The first eight bytes of a file. */
export const fileMagic = { segment: Buffer.from('t8s-log\n'), snapshot: Buffer.from('t8s-snap') } as const

export interface FileHeader {
  /** The number of the segment; 0 in a snapshot. */
  readonly number: number
  /** The oldest segment when this one was begun. */
  readonly oldest: number
  /** A random number that all segments of a store share. */
  readonly store: number
  /** The store's revisions when the file was begun. */
  readonly revision: number
  readonly compactedRevision: number
  /**
   * The offset at which the batches of the previous segment end. Bytes after it were never acknowledged, or are its
   * index.
   */
  readonly previousEnd: number
}

export function encodeFileHeader(magic: Buffer, header: FileHeader): Buffer {
  const target = Buffer.alloc(fileHeaderBytes)
  magic.copy(target)
  target.writeUInt32LE(formatVersion, 8)
  target.writeUInt32LE(header.number, 16)
  target.writeUInt32LE(header.oldest, 20)
  target.writeDoubleLE(header.store, 24)
  target.writeDoubleLE(header.revision, 32)
  target.writeDoubleLE(header.compactedRevision, 40)
  target.writeDoubleLE(header.previousEnd, 48)
  target.writeUInt32LE(crc32(target.subarray(16)), 12)
  return target
}

/** Decodes a header, or returns what is wrong with it: not our file, damaged, or another format version. */
export function decodeFileHeader(
  magic: Buffer,
  bytes: Buffer,
): FileHeader | 'foreign' | 'damaged' | { readonly format: number } {
  if (!bytes.subarray(0, magic.length).equals(magic)) return 'foreign'
  if (bytes.length < fileHeaderBytes) return 'damaged'
  const format = bytes.readUInt32LE(8)
  if (format !== formatVersion) return { format }
  if (crc32(bytes.subarray(16, fileHeaderBytes)) !== bytes.readUInt32LE(12)) return 'damaged'
  return {
    number: bytes.readUInt32LE(16),
    oldest: bytes.readUInt32LE(20),
    store: bytes.readDoubleLE(24),
    revision: bytes.readDoubleLE(32),
    compactedRevision: bytes.readDoubleLE(40),
    previousEnd: bytes.readDoubleLE(48),
  }
}

/**
 * A batch of records, or the index of a segment. The header contains its offset and its store, so that no value can be
 * mistaken for one.
 */
export const blockMagic = { batch: 0x42733874, index: 0x49733874 } as const

export interface BlockHeader {
  readonly magic: number
  /** Length of the whole block, header included. */
  readonly bytes: number
  readonly records: number
}

/** Writes the header of the block at the start of `target`, which will be at `position` of its file. */
export function writeBlockHeader(
  target: Buffer,
  { magic, bytes, records }: BlockHeader,
  position: number,
  store: number,
): void {
  target.writeUInt32LE(magic, 0)
  target.writeUInt32LE(bytes, 8)
  target.writeUInt32LE(records, 12)
  target.writeUInt32LE(position % 2 ** 32, 16)
  target.writeUInt32LE(store % 2 ** 32, 20)
  target.writeUInt32LE(crc32(target.subarray(8, blockHeaderBytes)), 4)
}

/** Reads the header of the block at `position`; undefined if it is not valid. */
export function readBlockHeader(source: Buffer, position: number, store: number): BlockHeader | undefined {
  if (source.length < blockHeaderBytes) return undefined
  if (source.readUInt32LE(16) !== position % 2 ** 32 || source.readUInt32LE(20) !== store % 2 ** 32) return undefined
  if (crc32(source.subarray(8, blockHeaderBytes)) !== source.readUInt32LE(4)) return undefined
  return { magic: source.readUInt32LE(0), bytes: source.readUInt32LE(8), records: source.readUInt32LE(12) }
}

/**
 * A record without its value. Marks (the compacted revision, the oldest segment, a snapshot's end) have no key;
 * `revision` is their number.
 */
export interface RecordHead {
  readonly kind: number
  readonly key: string
  readonly revision: number
  /** Length of the whole record. */
  readonly length: number
}

/**
 * Writes a record to `target` at offset `at`. `target` must have three bytes for each character of the key. Returns the
 * end of the record.
 */
export function writeRecord(
  target: Buffer,
  at: number,
  kind: Kind,
  key: string,
  revision: number,
  value: Buffer | undefined,
): number {
  const keyBytes = key === '' ? 0 : target.write(key, at + recordHeadBytes)
  let end = at + recordHeadBytes + keyBytes
  target[at + 4] = kind
  target[at + 5] = 0
  target.writeUInt16LE(keyBytes, at + 6)
  target.writeUInt32LE(value?.length ?? 0, at + 8)
  target.writeDoubleLE(revision, at + 12)
  if (value) end += value.copy(target, end)
  target.writeUInt32LE(crc32(target.subarray(at + 4, end)), at)
  return end
}

/**
 * Reads the head of the record at `at`; undefined if it is not a whole record. `verified: false` skips the checksum.
 */
export function readRecord(source: Buffer, at: number, verified = true): RecordHead | undefined {
  if (at + recordHeadBytes > source.length) return undefined
  const keyEnd = at + recordHeadBytes + source.readUInt16LE(at + 6)
  const end = keyEnd + source.readUInt32LE(at + 8)
  if (end > source.length) return undefined
  if (verified && crc32(source.subarray(at + 4, end)) !== source.readUInt32LE(at)) return undefined
  return {
    kind: source[at + 4]!,
    key: source.toString('utf8', at + recordHeadBytes, keyEnd),
    revision: source.readDoubleLE(at + 12),
    length: end - at,
  }
}

/** Returns the value of a whole record. */
export const valueIn = (record: Buffer): Buffer => record.subarray(recordHeadBytes + record.readUInt16LE(6))
