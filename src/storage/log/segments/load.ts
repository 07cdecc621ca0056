/** Reads the segments of a directory and checks that they are complete. Changes nothing. */
import { closeSync, fstatSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreOpenError } from '../../store.ts'
import { type CommitMark, markPath, readMark } from '../damage/commit-mark.ts'
import { judge, type Verdict } from '../damage/verdict.ts'
import { decodeFileHeader, type FileHeader, fileHeaderBytes, fileMagic, formatVersion, kinds } from '../layout.ts'
import { recordsIn, type ScanEnd, scanBatches } from './scan.ts'
import { type Location, Segment, segmentNumbers, segmentPath } from './segment.ts'
import { type IndexedRecord, readIndex } from './segment-index.ts'
import { Window } from './window.ts'

export interface LoadedVersion {
  readonly key: string
  readonly revision: number
  /** Undefined if the key was deleted. */
  readonly value: Location | undefined
}

export interface LoadedLog {
  /** Oldest first; never empty. */
  readonly segments: Segment[]
  readonly store: number
  /** Ordered by revision. A version that was being moved when the process ended occurs twice. */
  readonly versions: LoadedVersion[]
  readonly revision: number
  readonly compactedRevision: number
  /** The state of the end of the newest segment. */
  readonly end: Verdict
  /** Bytes after its last whole batch. */
  readonly droppedBytes: number
  /** `other`: the mark belongs to another store. */
  readonly mark: 'found' | 'missing' | 'damaged' | 'other'
  /** Segments that the cleaner had released but not deleted yet. */
  readonly obsolete: readonly number[]
}

export interface LoadOptions {
  /** Flags with which segments are opened. */
  readonly flags: number | 'r'
  /** Loads what remains if acknowledged changes are missing at the end of the log. */
  readonly acceptDataLoss?: boolean
}

/**
 * Loads a directory's log; undefined if there is none. Throws StoreOpenError if it is damaged or acknowledged changes
 * are missing, and `ENOENT` if a process that uses the store has just deleted a segment.
 */
export function loadLog(directory: string, { flags, acceptDataLoss = false }: LoadOptions): LoadedLog | undefined {
  // Read before the segments, since a process that uses the store may write meanwhile.
  const mark = readMark(directory)
  const numbers = segmentNumbers(directory)
  if (numbers.length === 0) {
    if (typeof mark === 'string' || acceptDataLoss) return undefined
    throw lost(markPath(directory), `the store had revision ${mark.revision}, and all its files are missing`)
  }
  const files = numbers.map((number) => ({ number, path: segmentPath(directory, number), fd: -1 }))
  try {
    // Opens all before reading any, so that none can be deleted meanwhile.
    for (const file of files) file.fd = openSync(file.path, flags)
    return load(files, mark, acceptDataLoss)
  } catch (error) {
    for (const { fd } of files) if (fd >= 0) closeSync(fd)
    throw error
  }
}

interface SegmentFile {
  readonly number: number
  readonly path: string
  readonly fd: number
}

function load(
  files: readonly SegmentFile[],
  found: CommitMark | 'missing' | 'damaged',
  acceptDataLoss: boolean,
): LoadedLog {
  const headers = files.map(readHeader)
  const segments = files.map(
    ({ number, path, fd }, i) => new Segment(number, path, fd, headers[i + 1]?.previousEnd ?? fstatSync(fd).size),
  )
  // The newest header contains the number of the oldest segment.
  const loading = new Loading(headers.at(-1)!)
  const newest = segments.at(-1)!
  const size = newest.end
  const scanned = loading.addNewest(newest)
  const mark = typeof found !== 'string' && found.store === loading.store ? found : undefined
  const end = judge({ ...scanned, number: newest.number, size, revision: loading.revision }, mark)
  if (end.kind === 'lost' && !acceptDataLoss) throw lost(newest.path, end.why)
  const remaining = segments.filter(({ number }) => number >= loading.oldest)
  if (remaining.length === 0) throw damaged(newest.path, 'it names an oldest file that is newer')
  // The mark with the oldest segment may be missing itself.
  const oldest = end.kind === 'lost' ? remaining[0]!.number : loading.oldest
  for (const [i, segment] of remaining.entries()) {
    const expected = oldest + i
    if (segment.number !== expected) throw damaged(segmentPath(dirname(segment.path), expected), 'it is missing')
    if (headers.at(i - remaining.length)!.store !== loading.store)
      throw damaged(segment.path, 'it belongs to another store')
  }
  for (const segment of remaining.slice(0, -1)) loading.addWhole(segment)
  const leftOver = segments.slice(0, segments.length - remaining.length)
  for (const segment of leftOver) segment.close()
  return {
    segments: remaining,
    store: loading.store,
    versions: loading.versions.sort((a, b) => a.revision - b.revision),
    revision: loading.revision,
    compactedRevision: loading.compactedRevision,
    end,
    droppedBytes: size - scanned.position,
    mark: mark ? 'found' : typeof found === 'string' ? found : 'other',
    obsolete: leftOver.map(({ number }) => number),
  }
}

/** Collects the records of the segments. */
class Loading {
  readonly versions: LoadedVersion[] = []
  readonly store: number
  revision: number
  compactedRevision: number
  oldest: number

  constructor({ store, revision, compactedRevision, oldest }: FileHeader) {
    this.store = store
    this.revision = revision
    this.compactedRevision = compactedRevision
    this.oldest = oldest
  }

  /** Adds a segment that has a successor, so all of it must be readable. */
  addWhole(segment: Segment): void {
    const records = readIndex(segment, this.store)
    if (records) {
      segment.sealed = true
      for (const record of records) this.#add(segment, record)
      return
    }
    const { position, why } = this.#scan(segment)
    if (why !== 'end' || fstatSync(segment.fd).size < segment.end)
      throw damaged(segment.path, `it cannot be read from byte ${position} on`)
  }

  /** Adds the newest segment, up to its last whole batch. */
  addNewest(segment: Segment): ScanEnd {
    const end = this.#scan(segment)
    segment.end = end.position
    return end
  }

  #scan(segment: Segment): ScanEnd {
    const batches = scanBatches(segment.fd, fileHeaderBytes, segment.end, this.store)
    for (;;) {
      const { value, done } = batches.next()
      if (done) return value
      for (const { at, record } of recordsIn(value.bytes))
        this.#add(segment, { ...record, offset: value.position + at })
    }
  }

  #add(segment: Segment, { kind, key, revision, offset, length }: IndexedRecord): void {
    switch (kind) {
      case kinds.put:
        segment.live += length
        this.versions.push({ key, revision, value: { segment, offset, length } })
        break
      case kinds.delete:
        segment.countDeletion(revision, length)
        this.versions.push({ key, revision, value: undefined })
        break
      case kinds.compacted:
        this.compactedRevision = Math.max(this.compactedRevision, revision)
        return
      case kinds.oldest:
        this.oldest = Math.max(this.oldest, revision)
        return
      default:
        throw damaged(segment.path, `it holds a record of unknown kind ${kind}`)
    }
    this.revision = Math.max(this.revision, revision)
  }
}

function readHeader({ number, path, fd }: SegmentFile): FileHeader {
  const header = decodeFileHeader(fileMagic.segment, new Window().view(fd, 0, fileHeaderBytes, fileHeaderBytes))
  if (header === 'foreign') throw foreign(path)
  if (header === 'damaged' || ('number' in header && header.number !== number))
    throw damaged(path, 'its header is broken')
  if ('format' in header) throw otherFormat(path, header.format)
  return header
}

/** The file is not a segment. */
export const foreign = (file: string): StoreOpenError =>
  new StoreOpenError(
    `${file} is not a file of a store of Typernetes: it was left as it is; choose another data directory or move ` +
      'the file away',
  )

export const otherFormat = (file: string, format: number): StoreOpenError =>
  new StoreOpenError(
    `${file} has format ${format}, this version of Typernetes knows ${formatVersion}: it was left as it is; use ` +
      'the version that wrote it',
  )

/** Acknowledged changes are missing at the end of the log. */
const lost = (file: string, why: string): StoreOpenError =>
  new StoreOpenError(
    `acknowledged changes are missing in ${file} (${why}): the store was left as it was; restore a snapshot into ` +
      'another data directory with `t8s snapshot restore`, or start once with --accept-data-loss to go on with ' +
      'what is left',
  )

export const damaged = (file: string, why: string): StoreOpenError =>
  new StoreOpenError(
    `${file} is damaged (${why}): the store was left as it is; restore a snapshot into another data directory ` +
      'with `t8s snapshot restore`',
  )
