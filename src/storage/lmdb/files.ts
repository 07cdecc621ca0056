/** LMDB files as such: opening them, telling ours from others', and knowing which of them this process has open. */
import { closeSync, existsSync, fsyncSync, openSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { StoreOpenError } from '../store.ts'
import { foreign } from './file-check.ts'
import { formatKey, formatVersion, metaOptions, storeFileName } from './layout.ts'
import { ownerKey } from './owner.ts'

export type Root = RootDatabase<Buffer, Uint8Array>

export const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
const rootOptions = { noSubdir: true, overlappingSync: false, eventTurnBatching: false, maxDbs: 4, ...({ permissionsMode: 0o600 } as object) }

/** A store's file that this process has open: LMDB must not open it twice, nor close it while it is copied. */
export interface OpenFile {
  root: Root
  readonly copies: Set<Promise<void>>
}

/** By the file's real path. */
export const openFiles = new Map<string, OpenFile>()

/** The store of a directory, if this process has it open. */
export const openFileOf = (directory: string): OpenFile | undefined =>
  existsSync(directory) ? openFiles.get(join(realpathSync(directory), storeFileName)) : undefined

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
