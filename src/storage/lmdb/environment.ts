/** Opens and closes the LMDB environment of a data directory: checks whose it is, makes the tables, takes ownership. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { StoreOpenError } from '../store.ts'
import { checkStoreFile, foreign } from './file-check.ts'
import { asTable, formatKey, formatVersion, kvOptions, logOptions, metaOptions, storeFileName, type Table, type VersionedKey } from './layout.ts'
import { acquire, heldError, ownerKey, release } from './owner.ts'

export type Root = RootDatabase<Buffer, Uint8Array>

export interface Environment {
  readonly directory: string
  readonly kv: Table<VersionedKey>
  readonly log: Table<number>
  /** The newest revision that was compacted away. */
  readonly compactedRevision: number
  /**
   * Runs `change`, which puts and removes, as one LMDB transaction. Resolves after fsync, with true; with false if this
   * process is no longer the owner, and nothing was changed.
   */
  write(change: () => void): Promise<boolean>
  /** To be called within `write`. */
  saveCompactedRevision(revision: number): void
  close(): Promise<void>
}

/** Environments that this process has open, by file: LMDB must not open a file twice. */
const openRoots = new Map<string, Root>()

const rootOptions = { noSubdir: true, overlappingSync: false, eventTurnBatching: false, maxDbs: 4, ...({ permissionsMode: 0o600 } as object) }
const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
const compactedKey = Buffer.from('compacted')

/** Opens the directory's store, or makes one. Throws StoreOpenError. */
export async function openEnvironment(directory: string): Promise<Environment> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreOpenError(`cannot make ${directory}: ${(error as Error).message}`, { cause: error })
  }
  const file = join(realpathSync(directory), storeFileName)
  if (openRoots.has(file)) throw heldError(directory, process.pid)
  const isNew = checkStoreFile(file) === 'absent'
  const hadLock = existsSync(lockFile(file))
  const root = openRoot(file)
  try {
    if (!hasFormat(root, file)) root.putSync(formatKey, Buffer.from(String(formatVersion)))
    const kv = root.openDB<Buffer, Uint8Array>('kv', kvOptions as object as typeof binary)
    const log = root.openDB<Buffer, Uint8Array>('log', logOptions as object as typeof binary)
    const meta = root.openDB<Buffer, Uint8Array>('meta', metaOptions)
    const token = acquire(meta, directory, file)
    if (isNew) syncDirectory(directory)
    openRoots.set(file, root)
    return {
      directory,
      kv: asTable<VersionedKey>(kv),
      log: asTable<number>(log),
      compactedRevision: Number(meta.get(compactedKey)?.toString() ?? 0),
      write: (change) => meta.ifVersion(ownerKey, token, change),
      saveCompactedRevision: (revision) => void meta.put(compactedKey, Buffer.from(String(revision)), 0),
      close: async () => {
        await release(meta, token).catch(() => undefined)
        openRoots.delete(file)
        await root.close()
      },
    }
  } catch (error) {
    await root.close()
    if (!hadLock) rmSync(lockFile(file), { force: true })
    throw error
  }
}

/** The root of a store that this process has open, or undefined. */
export const openedRoot = (directory: string): Root | undefined =>
  existsSync(directory) ? openRoots.get(join(realpathSync(directory), storeFileName)) : undefined

/** Opens a checked file. A lock file that LMDB makes for a file that is refused does not stay. */
export function openRoot(file: string, readOnly = false): Root {
  const hadLock = existsSync(lockFile(file))
  try {
    return open<Buffer, Uint8Array>(file, { ...rootOptions, ...binary, readOnly })
  } catch (error) {
    if (!hadLock) rmSync(lockFile(file), { force: true })
    throw new StoreOpenError(`cannot open ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Throws StoreOpenError unless the file is a store of a format that we know. Returns false if nothing has been written yet. */
export function hasFormat(root: Root, file: string): boolean {
  const format = root.get(formatKey)
  if (!format) {
    for (const _ of root.getKeys({ start: Buffer.of(0), limit: 1 })) throw foreign(file)
    return false
  }
  const version = Number(format.toString())
  if (version !== formatVersion) {
    throw new StoreOpenError(
      `${file} has format ${format}, this version of Typernetes knows ${formatVersion}: it was left as it is; use the version that wrote it`,
    )
  }
  return true
}

/** LMDB's own lock file. */
export const lockFile = (file: string): string => `${file}-lock`

/** Makes the names of new files durable. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Removes the owner's name from a copy of a store, so that it is nobody's. Throws StoreOpenError about `original` if it is not a store. */
export async function disown(copy: string, original: string): Promise<void> {
  const root = openRoot(copy)
  try {
    if (!hasFormat(root, original)) throw foreign(original)
    root.openDB<Buffer, Uint8Array>('meta', metaOptions).removeSync(ownerKey)
  } finally {
    await root.close()
  }
}
