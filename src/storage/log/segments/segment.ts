/** One file of the log. Batches are added to the newest only; what has been written is never written over. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreFailedError } from '../../store.ts'
import { encodeFileHeader, type FileHeader, fileHeaderBytes, fileMagic, kinds, readRecord, valueIn } from '../layout.ts'
import { type Disk, durable, syncDirectory } from '../writing/disk.ts'
import type { Window } from './window.ts'

/** Where a record lies. It changes when the record is moved. */
export interface Location {
  segment: Segment
  offset: number
  /** Of the whole record. */
  readonly length: number
}

export class Segment {
  readonly number: number
  readonly path: string
  readonly fd: number
  /** Where its batches end. */
  end: number
  /** Whether its index is in place. */
  sealed = false
  /** Bytes of records with a value that the index of versions still holds. */
  live = 0
  /** Bytes of its deletions, and the newest one's revision: they are needed until it has been compacted. */
  deletions = 0
  newestDeletion = 0

  constructor(number: number, path: string, fd: number, end: number) {
    this.number = number
    this.path = path
    this.fd = fd
    this.end = end
  }

  /** Bytes that cleaning would have to move. */
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

/** The numbers of the segments in a directory, in order. */
export function segmentNumbers(directory: string): number[] {
  const numbers: number[] = []
  for (const name of readdirSync(directory)) if (/^\d{12}\.log$/.test(name)) numbers.push(Number.parseInt(name, 10))
  return numbers.sort((a, b) => a - b)
}

/** Ends of names of files that are being made; what a crash left is of no use. */
export const unfinished = '.new'

/**
 * Makes a segment; it is there, whole and durable, or not at all. An empty one of the same number is replaced. `room`
 * bytes are written and taken back, to see whether the disk has them.
 */
export async function makeSegment(directory: string, header: FileHeader, disk: Disk, room = 0): Promise<Segment> {
  const path = segmentPath(directory, header.number)
  const temporary = path + unfinished
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

/** How much is read at once when one record lies behind the last. */
const aheadBytes = 64 * 1024
const nearBytes = 8 * 1024

/**
 * Reads many records: those that lie close behind one another together. For one turn of the event loop, since segments
 * come and go.
 */
export class RecordReader {
  readonly #window: Window
  #segment: Segment | undefined
  #end = 0

  constructor(window: Window) {
    window.forget()
    this.#window = window
  }

  /** The whole record, good until the next one is read. Throws StoreFailedError if it is not what it should be. */
  record(location: Location, key: string, revision: number): Buffer {
    const { segment, offset, length } = location
    const gap = segment === this.#segment ? offset - this.#end : -1
    this.#segment = segment
    this.#end = offset + length
    const record = this.#window.view(segment.fd, offset, length, gap >= 0 && gap < nearBytes ? aheadBytes : length)
    check(record, location, key, revision)
    return record
  }

  /** The record's value, in memory of its own. */
  value(location: Location, key: string, revision: number): Buffer {
    return Buffer.from(valueIn(this.record(location, key, revision)))
  }
}

/** The value of one record. Throws StoreFailedError if the record is not what it should be. */
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
