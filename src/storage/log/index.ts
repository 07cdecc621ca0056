/** The store on disk: a log in a directory. */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, reasonOf } from '../../lib/explained-error.ts'
import { type Store, StoreOpenError } from '../store.ts'
import { readMark } from './damage/commit-mark.ts'
import { reportEnd } from './damage/report.ts'
import { Log, type Revisions, revisionBump } from './log.ts'
import { acquire, heldError } from './owner.ts'
import { loadLog } from './segments/load.ts'
import { segmentPath, unfinished } from './segments/segment.ts'
import { LogStore, type LogStoreOptions } from './store.ts'
import { type Disk, durable, systemDisk } from './writing/disk.ts'

export interface OpenOptions {
  /** The store's folder, or the data directory of a cluster; made if it is missing. */
  readonly directory: string
  /** Goes on with what is left where acknowledged changes are missing at the end of the log. */
  readonly acceptDataLoss?: boolean
  /**
   * Gets a sentence on each thing that the operator should know, such as bytes that were left out. Without it they are
   * warnings of the process.
   */
  readonly notice?: (sentence: string) => void
  /** Smaller than usual in tests. */
  readonly tuning?: Partial<Tuning>
}

export interface Tuning extends LogStoreOptions {
  readonly segmentBytes: number
  readonly disk: Disk
}

const usual: Tuning = {
  segmentBytes: 16 * 1024 * 1024,
  disk: systemDisk,
  cleaning: { minBytes: 32 * 1024 * 1024, moveBytes: 256 * 1024, pauseMs: 2 },
  probeMs: 1000,
}

/** The stores that this process has open, by the real paths of their directories. Undefined: it is being opened. */
const openStores = new Map<string, Store | undefined>()

/** The store of a directory, if this process has it open. */
export const openStoreOf = (directory: string): Store | undefined =>
  existsSync(directory) ? openStores.get(realpathSync(directory)) : undefined

/**
 * Opens the directory's store, or makes one. This process is its only user until it is closed or the process ends.
 * Rejects with StoreOpenError if another process has it, or if what lies there is damaged or not a store.
 */
export async function openLogStore({
  directory,
  tuning,
  acceptDataLoss = false,
  notice = warn,
}: OpenOptions): Promise<Store> {
  const path = realDirectory(directory)
  if (openStores.has(path)) throw heldError(directory, process.pid)
  openStores.set(path, undefined)
  try {
    const store = await open({ directory: path, acceptDataLoss, notice }, { ...usual, ...tuning }, () =>
      openStores.delete(path),
    )
    openStores.set(path, store)
    return store
  } catch (error) {
    openStores.delete(path)
    throw error instanceof StoreOpenError
      ? error
      : new StoreOpenError(`cannot open the store in ${directory}: ${reasonOf(error)}`, { cause: error })
  }
}

const warn = (sentence: string): void => process.emitWarning(sentence, 'StoreWarning')

type Opening = Required<Omit<OpenOptions, 'tuning'>>

async function open(
  { directory, acceptDataLoss, notice }: Opening,
  { segmentBytes, disk, ...options }: Tuning,
  closed: () => void,
): Promise<Store> {
  refuseOtherDriver(directory)
  const owner = acquire(directory)
  try {
    const loaded = loadLog(directory, { flags: durable, acceptDataLoss })
    const usual = { directory, owner, disk, segmentBytes }
    if (!loaded) {
      const revisions = firstRevisions(directory, notice)
      return new LogStore(
        await Log.make({ ...usual, store: randomInt(2 ** 47) }, revisions),
        { versions: [], ...revisions },
        options,
        closed,
      )
    }
    reportEnd(directory, loaded, notice)
    removeLeftOvers(directory, loaded.leftOver)
    const { store, segments, end } = loaded
    // Whoever was wrongly held for dead may still be writing: it must not meet this process in one segment.
    const log = new Log({ ...usual, store, segments, clean: end.kind === 'whole' && !owner.tookOver }, loaded.revision)
    if (end.kind !== 'lost') return new LogStore(log, loaded, options, closed)
    const revision = loaded.revision + revisionBump
    const contents = { versions: loaded.versions, revision, compactedRevision: revision }
    await log.begin(contents)
    return new LogStore(log, contents, options, closed)
  } catch (error) {
    owner.release()
    throw error
  }
}

/** Where all files of a store are gone, the new one goes on far above what clients have seen. */
function firstRevisions(directory: string, notice: (sentence: string) => void): Revisions {
  const mark = readMark(directory)
  if (typeof mark === 'string') return { revision: 1, compactedRevision: 0 }
  notice(
    `all files of the store in ${directory} are missing, which had revision ${mark.revision}: an empty one was made`,
  )
  const revision = mark.revision + revisionBump
  return { revision, compactedRevision: revision }
}

function realDirectory(directory: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return realpathSync(directory)
  } catch (error) {
    const why = errorCode(error) === 'EEXIST' ? 'a file of that name is in the way' : reasonOf(error)
    throw new StoreOpenError(`cannot make ${directory}: ${why}`, { cause: error })
  }
}

/** Files that a process which ended too early has not finished, or not deleted. */
function removeLeftOvers(directory: string, numbers: readonly number[]): void {
  for (const number of numbers) rmSync(segmentPath(directory, number), { force: true })
  for (const name of readdirSync(directory))
    if (name.endsWith(unfinished)) rmSync(join(directory, name), { force: true })
}

/** Versions before this one kept their data in LMDB. */
function refuseOtherDriver(directory: string): void {
  const file = join(directory, 'store.mdb')
  if (!existsSync(file)) return
  throw new StoreOpenError(
    `${file} was written by an earlier version of Typernetes, which this one cannot read: it was left as it was; ` +
      'save its objects with `kubectl get -o yaml` from the version that wrote it, and start with another data ' +
      'directory',
  )
}
