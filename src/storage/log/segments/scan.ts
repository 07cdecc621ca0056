/** Reads a file batch by batch, and reports where and why the batches end. */
import { blockHeaderBytes, blockMagic, type RecordHead, readBlockHeader, readRecord } from '../layout.ts'
import { Window } from './window.ts'

export interface ScannedBatch {
  readonly position: number
  /** The whole batch, valid until the next one is read. */
  readonly bytes: Buffer
}

/**
 * Why there are no more batches: the end of the file; the segment's index; incomplete bytes (`torn`); or incomplete
 * bytes with whole batches after them (`broken`).
 */
export type ScanEnd = { readonly position: number; readonly why: 'end' | 'index' | 'torn' | 'broken' }

const aheadBytes = 1024 * 1024

/** Yields the batches of a file from `position` on. `verified: false` skips the checksums of records. */
export function* scanBatches(
  fd: number,
  position: number,
  end: number,
  store: number,
  verified = true,
): Generator<ScannedBatch, ScanEnd> {
  const window = new Window()
  const view = (at: number, length: number) => window.view(fd, at, Math.min(length, end - at), aheadBytes)
  let at = position
  while (at < end) {
    const header = readBlockHeader(view(at, blockHeaderBytes), at, store)
    if (header?.magic === blockMagic.index) return { position: at, why: 'index' }
    const bytes = header?.magic === blockMagic.batch ? view(at, header.bytes) : undefined
    if (!header || !bytes || bytes.length < header.bytes || (verified && !isWhole(bytes, header.records)))
      return { position: at, why: hasBatchAfter(view, at + 1, end, store) ? 'broken' : 'torn' }
    yield { position: at, bytes }
    at += header.bytes
  }
  return { position: at, why: 'end' }
}

/** Yields the records of a batch with their offsets. */
export function* recordsIn(batch: Buffer): Generator<{ readonly at: number; readonly record: RecordHead }> {
  for (let at = blockHeaderBytes; at < batch.length; ) {
    const record = readRecord(batch, at, false)
    if (!record) return
    yield { at, record }
    at += record.length
  }
}

function isWhole(batch: Buffer, records: number): boolean {
  let at = blockHeaderBytes
  for (let i = 0; i < records; i++) {
    const record = readRecord(batch, at)
    if (!record) return false
    at += record.length
  }
  return at === batch.length
}

const batchMagic = Buffer.alloc(4)
batchMagic.writeUInt32LE(blockMagic.batch)

/** Returns true if a batch header follows a broken batch. Nothing follows a write that was cut short. */
function hasBatchAfter(
  view: (at: number, length: number) => Buffer,
  from: number,
  end: number,
  store: number,
): boolean {
  for (let start = from; start < end; start += aheadBytes) {
    const bytes = view(start, aheadBytes + blockHeaderBytes)
    for (let at = bytes.indexOf(batchMagic); at >= 0; at = bytes.indexOf(batchMagic, at + 1)) {
      if (readBlockHeader(bytes.subarray(at), start + at, store)) return true
    }
  }
  return false
}
