/**
 * The file format of a snapshot: a header with the revision, batches of records as in the log, and a mark with their
 * number.
 */
import { closeSync, fstatSync, openSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import type { StoreState } from '../../state.ts'
import { type Entry, StoreOpenError } from '../../store.ts'
import {
  decodeFileHeader,
  encodeFileHeader,
  type FileHeader,
  fileHeaderBytes,
  fileMagic,
  formatVersion,
  kinds,
  valueIn,
} from '../layout.ts'
import { recordsIn, scanBatches } from '../segments/scan.ts'
import { Window } from '../segments/window.ts'
import { Batch } from '../writing/batch.ts'

/** Size of a batch. */
const batchBytes = 256 * 1024

/** Writes a snapshot to an empty file and makes it durable. */
export async function writeSnapshot(file: FileHandle, { revision, portions }: StoreState): Promise<void> {
  const batch = new Batch()
  let position = 0
  const write = async (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; )
      at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten
    position += bytes.length
  }
  const flush = async () => {
    await write(batch.finish(position, 0))
    batch.clear()
  }
  await write(
    encodeFileHeader(fileMagic.snapshot, {
      number: 0,
      oldest: 0,
      store: 0,
      revision,
      compactedRevision: revision,
      previousEnd: 0,
    }),
  )
  let count = 0
  for await (const entries of portions()) {
    for (const { key, revision, value } of entries) {
      batch.add(kinds.put, key, revision, value)
      count++
      if (batch.length >= batchBytes) await flush()
    }
  }
  batch.add(kinds.end, '', count)
  await flush()
  await file.sync()
}

export interface SnapshotFile {
  /** The state of the store at the time of the snapshot. Each portion is valid until the next one is read. */
  readonly state: StoreState
  close(): void
}

/**
 * Opens a snapshot and verifies all of it. Throws StoreOpenError if it is not a whole snapshot, ExplainedError if the
 * file cannot be read.
 */
export function openSnapshot(file: string): SnapshotFile {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch (error) {
    throw unreadable(file, error)
  }
  try {
    const { revision } = readHeader(fd, file)
    check(fd, file)
    return { state: { revision, portions: () => portionsIn(fd) }, close: () => closeSync(fd) }
  } catch (error) {
    closeSync(fd)
    throw errorCode(error) === undefined ? error : unreadable(file, error)
  }
}

function unreadable(file: string, error: unknown): ExplainedError {
  const why = errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${reasonOf(error)})`
  return new ExplainedError(`${file} ${why}: give a file that \`t8s snapshot save\` wrote`, { cause: error })
}

function* batchesIn(fd: number): Generator<Buffer> {
  for (const { bytes } of scanBatches(fd, fileHeaderBytes, fstatSync(fd).size, 0)) yield bytes
}

async function* portionsIn(fd: number): AsyncGenerator<readonly Entry[]> {
  for (const bytes of batchesIn(fd)) {
    const entries: Entry[] = []
    for (const { at, record } of recordsIn(bytes))
      if (record.kind === kinds.put)
        entries.push({
          key: record.key,
          revision: record.revision,
          value: valueIn(bytes.subarray(at, at + record.length)),
        })
    yield entries
  }
}

function readHeader(fd: number, file: string): FileHeader {
  const bytes = new Window().view(fd, 0, fileHeaderBytes, fileHeaderBytes)
  if (bytes.length === 0) throw new ExplainedError(`${file} is empty: give a file that \`t8s snapshot save\` wrote`)
  const header = decodeFileHeader(fileMagic.snapshot, bytes)
  if (header === 'foreign')
    throw new StoreOpenError(`${file} is not a snapshot of Typernetes: give a file that \`t8s snapshot save\` wrote`)
  if (header === 'damaged') throw incomplete(file)
  if ('format' in header)
    throw new StoreOpenError(
      `${file} has format ${header.format}, this version of Typernetes knows ${formatVersion}: use the version ` +
        'that wrote it',
    )
  return header
}

/** Checks that the mark at the end has the number of records. */
function check(fd: number, file: string): void {
  let count = 0
  let expected: number | undefined
  for (const batch of batchesIn(fd)) {
    for (const { record } of recordsIn(batch)) {
      if (expected !== undefined) throw incomplete(file)
      if (record.kind === kinds.end) expected = record.revision
      else count++
    }
  }
  if (expected !== count) throw incomplete(file)
}

const incomplete = (file: string): StoreOpenError =>
  new StoreOpenError(`${file} is damaged, or only a part of a snapshot: restore another one`)
