/** The store on disk: a log in a directory. */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, reasonOf } from '../../lib/explained-error.ts'
import { type Store, StoreOpenError } from '../store.ts'
import { Log } from './log.ts'
import { acquire, heldError } from './owner.ts'
import { loadLog } from './segments/load.ts'
import { segmentPath, unfinished } from './segments/segment.ts'
import { LogStore, type LogStoreOptions } from './store.ts'
import { type Disk, durable, systemDisk } from './writing/disk.ts'

export interface OpenOptions {
  /** The store's folder; made if it is missing. */
  readonly directory: string
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
export const openStoreOf = (directory: string): Store | undefined => (existsSync(directory) ? openStores.get(realpathSync(directory)) : undefined)

/**
 * Opens the directory's store, or makes one. This process is its only user until it is closed or the process ends.
 * Rejects with StoreOpenError if another process has it, or if what lies there is damaged or not a store.
 */
export async function openLogStore({ directory, tuning }: OpenOptions): Promise<Store> {
  const path = realDirectory(directory)
  if (openStores.has(path)) throw heldError(directory, process.pid)
  openStores.set(path, undefined)
  try {
    const store = await open(path, { ...usual, ...tuning }, () => openStores.delete(path))
    openStores.set(path, store)
    return store
  } catch (error) {
    openStores.delete(path)
    throw error instanceof StoreOpenError ? error : new StoreOpenError(`cannot open the store in ${directory}: ${reasonOf(error)}`, { cause: error })
  }
}

async function open(directory: string, { segmentBytes, disk, ...options }: Tuning, closed: () => void): Promise<Store> {
  refuseOtherDriver(directory)
  const owner = acquire(directory)
  try {
    const loaded = loadLog(directory, durable)
    const usual = { directory, owner, disk, segmentBytes }
    if (!loaded) {
      const revisions = { revision: 1, compactedRevision: 0 }
      return new LogStore(await Log.make({ ...usual, store: randomInt(2 ** 47) }, revisions), { versions: [], ...revisions }, options, closed)
    }
    removeLeftOvers(directory, loaded.leftOver)
    const { store, segments } = loaded
    // Whoever was wrongly held for dead may still be writing: it must not meet this process in one segment.
    const clean = loaded.clean && !owner.tookOver
    return new LogStore(new Log({ ...usual, store, segments, clean }), loaded, options, closed)
  } catch (error) {
    owner.release()
    throw error
  }
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
  for (const name of readdirSync(directory)) if (name.endsWith(unfinished)) rmSync(join(directory, name), { force: true })
}

/** Versions before this one kept their data in LMDB. */
function refuseOtherDriver(directory: string): void {
  const file = join(directory, 'store.mdb')
  if (!existsSync(file)) return
  throw new StoreOpenError(
    `${file} was written by an earlier version of Typernetes, which this one cannot read: it was left as it was; save its objects with \`kubectl get -o yaml\` from the version that wrote it, and start with another data directory`,
  )
}
