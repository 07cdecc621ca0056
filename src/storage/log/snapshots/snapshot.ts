/** Saves a store to one file, whether it is in use or not, and creates a store from such a file. */
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import { VersionIndex } from '../../mvcc/version-index.ts'
import { CompactedError, type Entry, type Store, StoreOpenError } from '../../store.ts'
import { openStoreOf } from '../index.ts'
import { kinds, valueIn } from '../layout.ts'
import { Log, revisionBump } from '../log.ts'
import { acquire } from '../owner.ts'
import { type LoadedLog, loadLog } from '../segments/load.ts'
import { recordsIn } from '../segments/scan.ts'
import { type Location, RecordReader, segmentNumbers } from '../segments/segment.ts'
import { Window } from '../segments/window.ts'
import { Batch } from '../writing/batch.ts'
import { syncDirectory, systemDisk } from '../writing/disk.ts'
import { openSnapshot, writeSnapshot } from './snapshot-file.ts'

/** Retries because another process may delete segments, or history be compacted, during a read. */
const attempts = 20
const entriesPerPortion = 500
const everything = { start: '', end: '\u{10ffff}' }
const segmentBytes = 16 * 1024 * 1024

/**
 * Writes the newest durable state of the store to `file`, which must not exist, with mode 0600. The store may be in
 * use, by this process or another one. Throws StoreOpenError if the directory is not a store, ExplainedError if `file`
 * cannot be written.
 */
export async function saveSnapshot(dataDirectory: string, file: string): Promise<void> {
  const target = resolve(file)
  if (existsSync(target)) throw existsError(target)
  const running = openStoreOf(dataDirectory)
  if (running) await explained(target, () => saveOpenStore(running, target))
  else await saveDirectory(dataDirectory, target)
}

/**
 * Creates a store in `dataDirectory`, which must be empty, from a file that `saveSnapshot` wrote. Objects keep their
 * revisions; the store continues at the snapshot's revision plus `revisionBump`, and older revisions are compacted.
 * Throws StoreOpenError if the file is not a snapshot, ExplainedError if the directory is not empty or cannot be
 * written.
 */
export async function restoreSnapshot(file: string, dataDirectory: string): Promise<void> {
  const snapshot = openSnapshot(file)
  try {
    const directory = resolve(dataDirectory)
    await explained(directory, async () => {
      if (existsSync(directory) && readdirSync(directory).length > 0)
        throw new ExplainedError(
          `${directory} holds data already: it was left as it is; give another directory or move it away`,
        )
      const temporary = join(dirname(directory), `.${basename(directory)}-${randomBytes(6).toString('hex')}`)
      mkdirSync(temporary, { recursive: true, mode: 0o700 })
      try {
        await restore(snapshot, temporary)
        // The directory may exist and be empty.
        if (existsSync(directory)) rmdirSync(directory)
        await rename(temporary, directory)
        syncDirectory(dirname(directory))
      } finally {
        await rm(temporary, { recursive: true, force: true })
      }
    })
  } finally {
    snapshot.close()
  }
}

async function restore(snapshot: ReturnType<typeof openSnapshot>, directory: string): Promise<void> {
  const revision = snapshot.revision + revisionBump
  const revisions = { revision, compactedRevision: revision }
  const log = await Log.make(
    { directory, owner: acquire(directory), disk: systemDisk, segmentBytes, store: randomInt(2 ** 47) },
    revisions,
  )
  try {
    const batch = new Batch()
    for (const bytes of snapshot.batches()) {
      batch.clear()
      for (const { at, record } of recordsIn(bytes))
        if (record.kind === kinds.put) batch.addWhole(bytes.subarray(at, at + record.length))
      if (!batch.isEmpty) await log.append(batch, revisions)
    }
    await log.sealed()
  } finally {
    await log.close()
  }
}

/** Saves a store that this process has open, at one revision. */
async function saveOpenStore(store: Store, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const revision = await store.currentRevision()
    try {
      await writeFile(target, revision, pagesAt(store, revision))
      return
    } catch (error) {
      if (!(error instanceof CompactedError) || attempt === attempts) throw error
    }
  }
}

async function* pagesAt(store: Store, revision: number): AsyncGenerator<readonly Entry[]> {
  for (let start = everything.start; ; ) {
    const { entries, more } = await store.list({ ...everything, start, limit: entriesPerPortion, revision })
    yield entries
    if (!more) return
    start = `${entries.at(-1)!.key}\0`
  }
}

/** Saves the store in a directory, which another process may be writing to. */
async function saveDirectory(directory: string, target: string): Promise<void> {
  const log = await loadForReading(directory)
  try {
    const index = new VersionIndex<Location>()
    index.fill(log.versions, log.revision)
    await explained(target, () => writeFile(target, log.revision, portionsOf(index, log.revision)))
  } finally {
    for (const segment of log.segments) segment.close()
  }
}

async function loadForReading(directory: string): Promise<LoadedLog> {
  for (let attempt = 1; ; attempt++) {
    try {
      const log = existsSync(directory) ? loadLog(directory, { flags: 'r' }) : undefined
      if (log) return log
      throw new StoreOpenError(`${directory} holds no store: check --data-dir`)
    } catch (error) {
      // A segment has just been deleted, or a new one begun.
      const isPassing = errorCode(error) === 'ENOENT' || error instanceof StoreOpenError
      if (
        !isPassing ||
        attempt === attempts ||
        (existsSync(directory) && segmentNumbers(directory).length === 0) ||
        !existsSync(directory)
      )
        throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

async function* portionsOf(index: VersionIndex<Location>, revision: number): AsyncGenerator<readonly Entry[]> {
  const reader = new RecordReader(new Window())
  let entries: Entry[] = []
  for (const version of index.range(everything.start, everything.end, revision)) {
    entries.push({
      key: version.key,
      revision: version.revision,
      value: Buffer.from(valueIn(reader.record(version.value!, version.key, version.revision))),
    })
    if (entries.length < entriesPerPortion) continue
    yield entries
    entries = []
  }
  yield entries
}

/** Writes a snapshot to a temporary file and moves it to `target`, unless that exists. */
async function writeFile(target: string, revision: number, portions: AsyncIterable<readonly Entry[]>): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target)}-${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await writeSnapshot(file, revision, portions)
    } finally {
      await file.close()
    }
    await putInPlace(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function putInPlace(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw existsError(to)
    // Some file systems have no hard links.
    await rename(from, to)
  }
  syncDirectory(dirname(to))
}

const existsError = (path: string): ExplainedError =>
  new ExplainedError(`${path} exists already: it was left as it is; give another name or move it away`)

async function explained(path: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof ExplainedError || error instanceof StoreOpenError) throw error
    throw new ExplainedError(`cannot write ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
