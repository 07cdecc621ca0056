/**
 * The index at the end of a full segment: its records and their offsets, so that opening a store need not read the
 * values.
 */
import { crc32 } from 'node:zlib'
import {
  blockHeaderBytes,
  blockMagic,
  fileHeaderBytes,
  type RecordHead,
  readBlockHeader,
  writeBlockHeader,
} from '../layout.ts'
import type { Disk } from '../writing/disk.ts'
import { recordsIn, scanBatches } from './scan.ts'
import type { Segment } from './segment.ts'
import { Window } from './window.ts'

/** A record with its offset in the segment. */
export interface IndexedRecord extends RecordHead {
  readonly offset: number
}

/** Checksum of the entries. */
const checksumBytes = 4
/** Kind (1 byte), length of the key (2), revision (8), offset (4), length (4). */
const entryHeadBytes = 19
/** Maximum time in ms that writing an index blocks the event loop. */
const sliceMs = 3

/**
 * Writes the index of a segment that is complete and has a durable successor. Works in slices and stops early when
 * `stopped` returns true.
 */
export async function sealSegment(segment: Segment, store: number, disk: Disk, stopped: () => boolean): Promise<void> {
  let target = Buffer.allocUnsafeSlow(256 * 1024)
  let length = blockHeaderBytes + checksumBytes
  let records = 0
  let until = performance.now() + sliceMs
  for (const { position, bytes } of scanBatches(segment.fd, fileHeaderBytes, segment.end, store, false)) {
    for (const { at, record } of recordsIn(bytes)) {
      const room = length + entryHeadBytes + record.key.length * 3
      if (room > target.length) target = Buffer.concat([target.subarray(0, length)], 2 * room)
      length = writeEntry(target, length, record, position + at)
      records++
    }
    if (performance.now() < until) continue
    await new Promise(setImmediate)
    if (stopped()) return
    until = performance.now() + sliceMs
  }
  const block = target.subarray(0, length)
  block.writeUInt32LE(crc32(block.subarray(blockHeaderBytes + checksumBytes)), blockHeaderBytes)
  writeBlockHeader(block, { magic: blockMagic.index, bytes: length, records }, segment.end, store)
  await disk.write(segment.fd, block, segment.end)
  segment.sealed = true
}

/** Returns the entries of the segment's index; undefined if the index is missing or damaged. */
export function readIndex({ fd, end }: Segment, store: number): Iterable<IndexedRecord> | undefined {
  const window = new Window()
  const header = readBlockHeader(window.view(fd, end, blockHeaderBytes, blockHeaderBytes), end, store)
  if (header?.magic !== blockMagic.index) return undefined
  const block = window.view(fd, end, header.bytes, header.bytes)
  if (
    block.length < header.bytes ||
    crc32(block.subarray(blockHeaderBytes + checksumBytes)) !== block.readUInt32LE(blockHeaderBytes)
  )
    return undefined
  return entriesIn(block)
}

/** Yields the records of a segment that was verified on opening or written since. */
export function* recordsOf(segment: Segment, store: number): Generator<IndexedRecord> {
  const index = segment.sealed && readIndex(segment, store)
  if (index) {
    yield* index
    return
  }
  for (const { position, bytes } of scanBatches(segment.fd, fileHeaderBytes, segment.end, store, false))
    for (const { at, record } of recordsIn(bytes)) yield { ...record, offset: position + at }
}

function* entriesIn(block: Buffer): Generator<IndexedRecord> {
  for (let at = blockHeaderBytes + checksumBytes; at < block.length; ) {
    const keyEnd = at + entryHeadBytes + block.readUInt16LE(at + 1)
    yield {
      kind: block[at]!,
      key: block.toString('utf8', at + entryHeadBytes, keyEnd),
      revision: block.readDoubleLE(at + 3),
      offset: block.readUInt32LE(at + 11),
      length: block.readUInt32LE(at + 15),
    }
    at = keyEnd
  }
}

function writeEntry(target: Buffer, at: number, { kind, key, revision, length }: RecordHead, offset: number): number {
  const keyBytes = target.write(key, at + entryHeadBytes)
  target[at] = kind
  target.writeUInt16LE(keyBytes, at + 1)
  target.writeDoubleLE(revision, at + 3)
  target.writeUInt32LE(offset, at + 11)
  target.writeUInt32LE(length, at + 15)
  return at + entryHeadBytes + keyBytes
}
