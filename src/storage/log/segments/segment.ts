/** One file of the log. Batches are appended to the newest segment only; written bytes are never overwritten. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreFailedError } from '../../store.ts'
import { encodeFileHeader, type FileHeader, fileHeaderBytes, fileMagic, kinds, readRecord, valueIn } from '../layout.ts'
import { type Disk, durable, syncDirectory } from '../writing/disk.ts'
import type { Window } from './window.ts'

/** The place of a record. Changes when the record is moved. */
export interface Location {
  segment: Segment
  offset: number
  /** Length of the whole record. */
  readonly length: number
}

export class Segment {
  readonly number: number
  readonly path: string
  readonly fd: number
  /** End of its batches. */
  end: number
  /** True if its index has been written. */
  sealed = false
  /** Bytes of put records that the version index still refers to. */
  live = 0
  /** Bytes of its deletions, and the newest one's revision. They are needed until that revision has been compacted. */
  deletions = 0
  newestDeletion = 0

  constructor(number: number, path: string, fd: number, end: number) {
    this.number = number
    this.path = path
    this.fd = fd
    this.end = end
  }

  /** Returns the bytes that cleaning would have to move. */
  needed(compactedRevision: number): number {
    return this.live + (this.newestDeletion > compactedRevision ? this.deletions : 0)
  }

  countDeletion(revision: number, length: number): void {
    this.deletions += length
    this.newestDeletion = Math.max(this.newestDeletion, revision)
  }

  close(): void {
    closeSync(this.fd)
  }
}

const suffix = '.log'
export const segmentPath = (directory: string, number: number): string =>
  join(directory, `${String(number).padStart(12, '0')}${suffix}`)

/** Returns the sorted numbers of the segments in a directory. */
export function segmentNumbers(directory: string): number[] {
  const numbers: number[] = []
  for (const name of readdirSync(directory)) if (/^\d{12}\.log$/.test(name)) numbers.push(Number.parseInt(name, 10))
  return numbers.sort((a, b) => a - b)
}

/** Suffix of unfinished files. Those that a crash left are useless. */
export const unfinishedSuffix = '.new'

/**
 * Creates a segment atomically and durably. An empty segment of the same number is replaced. `room` bytes are written
 * and truncated, to check that the disk has them.
 */
export async function makeSegment(directory: string, header: FileHeader, disk: Disk, room = 0): Promise<Segment> {
  const path = segmentPath(directory, header.number)
  const temporary = path + unfinishedSuffix
  try {
    const file = await open(temporary, 'w', 0o600)
    try {
      await disk.write(file.fd, Buffer.concat([encodeFileHeader(fileMagic.segment, header), Buffer.alloc(room)]), 0)
      if (room > 0) {
        await file.sync()
        await file.truncate(fileHeaderBytes)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    syncDirectory(directory)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return new Segment(header.number, path, openSync(path, durable), fileHeaderBytes)
}

/** Bytes read in one call when records are close to each other. */
const aheadBytes = 64 * 1024
const nearBytes = 8 * 1024

/**
 * Reads many records, with one system call for records close to each other. Valid for one turn of the event loop, since
 * segments are added and deleted.
 */
export class RecordReader {
  readonly #window: Window
  #segment: Segment | undefined
  #end = 0

  constructor(window: Window) {
    window.forget()
    this.#window = window
  }

  /**
   * Returns the whole record, valid until the next one is read. Throws StoreFailedError if the record does not match.
   */
  record(location: Location, key: string, revision: number): Buffer {
    const { segment, offset, length } = location
    const gap = segment === this.#segment ? offset - this.#end : -1
    this.#segment = segment
    this.#end = offset + length
    const record = this.#window.view(segment.fd, offset, length, gap >= 0 && gap < nearBytes ? aheadBytes : length)
    check(record, location, key, revision)
    return record
  }

  /** Returns a copy of the record's value. */
  value(location: Location, key: string, revision: number): Buffer {
    return Buffer.from(valueIn(this.record(location, key, revision)))
  }
}

/** Reads the value of one record. Throws StoreFailedError if the record does not match. */
export function readValue(location: Location, key: string, revision: number): Buffer {
  const record = Buffer.allocUnsafe(location.length)
  const read = readSync(location.segment.fd, record, 0, location.length, location.offset)
  check(record.subarray(0, read), location, key, revision)
  return valueIn(record)
}

function check(bytes: Buffer, { segment, length }: Location, key: string, revision: number): void {
  const record = readRecord(bytes, 0)
  if (record?.kind === kinds.put && record.key === key && record.revision === revision && record.length === length)
    return
  throw new StoreFailedError(
    `${segment.path} is damaged: what ${key} was at revision ${revision} cannot be read; restore a snapshot with ` +
      '`t8s snapshot restore`',
  )
}
