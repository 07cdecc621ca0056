/** Saves a store to one file, whether it is in use or not. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ExplainedError, errorCode } from '../../../lib/explained-error.ts'
import { everything, portionsAt, type StoreState } from '../../state.ts'
import { CompactedError, type Store } from '../../store.ts'
import { openStoreOf } from '../index.ts'
import { syncDirectory } from '../writing/disk.ts'
import { explained } from './explained.ts'
import { readLog } from './read-log.ts'
import { writeSnapshot } from './snapshot-file.ts'

/** Retries because history may be compacted during a read. */
const attempts = 20

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

/** Saves a store that this process has open, at one revision. */
async function saveOpenStore(store: Store, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const revision = await store.currentRevision()
    try {
      await writeFile(target, { revision, portions: () => portionsAt(store, everything, revision) })
      return
    } catch (error) {
      if (!(error instanceof CompactedError) || attempt === attempts) throw error
    }
  }
}

/** Saves the store in a directory, which another process may be writing to. */
async function saveDirectory(directory: string, target: string): Promise<void> {
  const { state, close } = await readLog(directory)
  try {
    await explained(target, () => writeFile(target, state))
  } finally {
    close()
  }
}

/** Writes a snapshot to a temporary file and moves it to `target`, unless that exists. */
async function writeFile(target: string, state: StoreState): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target)}-${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await writeSnapshot(file, state)
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
