/** The on-disk store: a log in a directory. */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock/clock.ts'
import { errorCode, reasonOf } from '../../lib/explained-error.ts'
import { type Store, StoreOpenError } from '../store.ts'
import { readMark } from './damage/commit-mark.ts'
import { reportEnd } from './damage/report.ts'
import { Log, type Revisions, revisionBump } from './log.ts'
import { acquire, inUseError } from './owner.ts'
import { loadLog } from './segments/load.ts'
import { segmentPath, unfinishedSuffix } from './segments/segment.ts'
import { LogStore, type LogStoreOptions } from './store.ts'
import { type Disk, durable, systemDisk } from './writing/disk.ts'

export interface OpenOptions {
  /** The store's directory, or the data directory of a cluster. Created if missing. */
  readonly directory: string
  /** Opens the store with what remains if acknowledged changes are missing at the end of the log. */
  readonly acceptDataLoss?: boolean
  /**
   * Called with a sentence about each thing that the operator should know, such as dropped bytes. Default: a process
   * warning.
   */
  readonly notice?: (sentence: string) => void
  /** The clock of times to live. Default: the machine's. */
  readonly clock?: Clock | undefined
  /** Overrides the defaults, for tests. */
  readonly tuning?: Partial<Tuning>
}

export interface Tuning extends LogStoreOptions {
  readonly segmentBytes: number
  readonly disk: Disk
}

const defaults: Tuning = {
  segmentBytes: 16 * 1024 * 1024,
  disk: systemDisk,
  cleaning: { minBytes: 32 * 1024 * 1024, moveBytes: 256 * 1024, pauseMs: 2 },
  probeMs: 1000,
}

/** The open stores of this process, by the real paths of their directories. Undefined while a store is being opened. */
const openStores = new Map<string, Store | undefined>()

/** Returns the store of a directory if this process has it open. */
export const openStoreOf = (directory: string): Store | undefined =>
  existsSync(directory) ? openStores.get(realpathSync(directory)) : undefined

/**
 * Opens the directory's store, or creates one. This process owns it until it is closed or the process ends. Rejects
 * with StoreOpenError if another process owns it, or if the directory is damaged or not a store.
 */
export async function openLogStore({
  directory,
  tuning,
  acceptDataLoss = false,
  notice = warn,
  clock,
}: OpenOptions): Promise<Store> {
  const path = realDirectory(directory)
  if (openStores.has(path)) throw inUseError(directory, process.pid)
  openStores.set(path, undefined)
  try {
    const store = await open({ directory: path, acceptDataLoss, notice }, { ...defaults, clock, ...tuning }, () =>
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

type Opening = Required<Omit<OpenOptions, 'tuning' | 'clock'>>

async function open(
  { directory, acceptDataLoss, notice }: Opening,
  { segmentBytes, disk, ...options }: Tuning,
  closed: () => void,
): Promise<Store> {
  rejectOtherDriver(directory)
  const owner = acquire(directory)
  try {
    const loaded = loadLog(directory, { flags: durable, acceptDataLoss })
    const common = { directory, owner, disk, segmentBytes }
    if (!loaded) {
      const revisions = firstRevisions(directory, notice)
      return new LogStore(
        await Log.make({ ...common, store: randomInt(2 ** 47) }, revisions),
        { versions: [], ...revisions },
        options,
        closed,
      )
    }
    reportEnd(directory, loaded, notice)
    removeObsoleteFiles(directory, loaded.obsolete)
    const { store, segments, end } = loaded
    // A previous owner wrongly taken for dead may still be writing, so this process starts a segment of its own.
    const log = new Log({ ...common, store, segments, clean: end.kind === 'whole' && !owner.tookOver }, loaded.revision)
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

/** If all files of a store are missing, the new store starts far above the revisions that clients have seen. */
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

/** Removes files that a crashed process did not finish or delete. */
function removeObsoleteFiles(directory: string, numbers: readonly number[]): void {
  for (const number of numbers) rmSync(segmentPath(directory, number), { force: true })
  for (const name of readdirSync(directory))
    if (name.endsWith(unfinishedSuffix)) rmSync(join(directory, name), { force: true })
}

/** Earlier versions stored their data in LMDB. */
function rejectOtherDriver(directory: string): void {
  const file = join(directory, 'store.mdb')
  if (!existsSync(file)) return
  throw new StoreOpenError(
    `${file} was written by an earlier version of Typernetes, which this one cannot read: it was left as it was; ` +
      'save its objects with `kubectl get -o yaml` from the version that wrote it, and start with another data ' +
      'directory',
  )
}
