/**
 * The LMDB environment of a data directory: checks whose it is, makes the tables, takes ownership, writes.
 * LMDB 0.9.90 of lmdb-js now and then loses track of its list of free pages, most of all after a crash: it notices, aborts the
 * transaction, and goes on failing. The file itself is whole, so it is opened again and the write repeated.
 */
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'lmdb'
import { StoreOpenError } from '../store.ts'
import { checkStoreFile } from './file-check.ts'
import { type binary, hasFormat, lockFile, openFiles, openRoot, type Root, syncDirectory } from './files.ts'
import { asTable, formatKey, formatVersion, kvOptions, logOptions, metaOptions, storeFileName, type Table, type VersionedKey } from './layout.ts'
import { acquire, heldError, ownerKey, release } from './owner.ts'

const compactedKey = Buffer.from('compacted')

export interface Tables {
  readonly kv: Table<VersionedKey>
  readonly log: Table<number>
  readonly meta: Database<Buffer, Uint8Array>
}

export class Environment {
  readonly directory: string
  readonly #file: string
  readonly #token: number
  #root: Root
  #tables: Tables
  /** While it lasts, wait for it before reading. */
  reopening: Promise<void> | undefined

  /** Use `openEnvironment`. */
  constructor(directory: string, file: string, root: Root) {
    this.directory = directory
    this.#file = file
    this.#root = root
    this.#tables = tablesOf(root)
    this.#token = acquire(this.#tables.meta, directory, file)
    openFiles.set(file, { root, copies: new Set() })
  }

  /** To be read from; they change when the file is opened again. */
  get tables(): Tables {
    return this.#tables
  }

  /** The newest revision that was compacted away. */
  get compactedRevision(): number {
    return Number(this.#tables.meta.get(compactedKey)?.toString() ?? 0)
  }

  /**
   * Runs `change`, which puts and removes and may be repeated, as one LMDB transaction. Resolves after fsync, with true; with
   * false if this process is no longer the owner, and nothing was changed. One at a time.
   */
  async write(change: (tables: Tables) => void): Promise<boolean> {
    try {
      return await this.attempt(change)
    } catch (error) {
      const cause = await causeOf(error)
      if (!isOfLmdb(cause)) throw cause
      process.emitWarning(`the store in ${this.directory} is opened again, since LMDB failed: ${cause.message.trim()}`, 'StoreWarning')
      await this.#reopen()
      return await this.attempt(change).catch(async (again) => {
        throw await causeOf(again)
      })
    }
  }

  /** One try. Tests make it fail. */
  protected attempt(change: (tables: Tables) => void): Promise<boolean> {
    return this.#tables.meta.ifVersion(ownerKey, this.#token, () => change(this.#tables))
  }

  async close(): Promise<void> {
    await release(this.#tables.meta, this.#token).catch(() => undefined)
    await this.#copied()
    openFiles.delete(this.#file)
    await this.#root.close()
  }

  async #reopen(): Promise<void> {
    const reopening = (async () => {
      await this.#copied()
      await this.#root.close()
      this.#root = openRoot(this.#file)
      this.#tables = tablesOf(this.#root)
      openFiles.get(this.#file)!.root = this.#root
    })()
    this.reopening = reopening
    await reopening
    this.reopening = undefined
  }

  async #copied(): Promise<void> {
    const { copies } = openFiles.get(this.#file)!
    while (copies.size > 0) await Promise.allSettled(copies)
  }
}

/** To be called within `write`. */
export const saveCompactedRevision = ({ meta }: Tables, revision: number): unknown => meta.put(compactedKey, Buffer.from(String(revision)), 0)

/** Opens the directory's store, or makes one. Throws StoreOpenError. */
export async function openEnvironment(directory: string, Class: typeof Environment = Environment): Promise<Environment> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreOpenError(`cannot make ${directory}: ${(error as Error).message}`, { cause: error })
  }
  const file = join(realpathSync(directory), storeFileName)
  if (openFiles.has(file)) throw heldError(directory, process.pid)
  const isNew = checkStoreFile(file) === 'absent'
  const hadLock = existsSync(lockFile(file))
  const root = openRoot(file)
  try {
    if (!hasFormat(root, file)) root.putSync(formatKey, Buffer.from(String(formatVersion)))
    const environment = new Class(directory, file, root)
    if (isNew) syncDirectory(directory)
    return environment
  } catch (error) {
    await root.close()
    if (!hadLock) rmSync(lockFile(file), { force: true })
    throw error
  }
}

const tablesOf = (root: Root): Tables => ({
  kv: asTable<VersionedKey>(root.openDB<Buffer, Uint8Array>('kv', kvOptions as object as typeof binary)),
  log: asTable<number>(root.openDB<Buffer, Uint8Array>('log', logOptions as object as typeof binary)),
  meta: root.openDB<Buffer, Uint8Array>('meta', metaOptions),
})

/** LMDB hands the cause over as a promise that rejects. */
async function causeOf(error: unknown): Promise<Error & { code?: unknown }> {
  try {
    await (error as { commitError?: Promise<never> }).commitError
  } catch (cause) {
    return cause as Error
  }
  return error as Error
}

/** LMDB's own codes are around -30,780, those of the system positive: after those the disk is not to be trusted. */
const isOfLmdb = ({ code }: { code?: unknown }): boolean => typeof code === 'number' && code < 0
