/** Copies a store to one file, while it is used or not, and makes a new store from such a file. */
import { randomBytes } from 'node:crypto'
import { constants, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { chmod, copyFile, link, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { StoreOpenError } from '../store.ts'
import { checkStoreFile, foreign } from './file-check.ts'
import { disown, hasFormat, lockFile, openFileOf, openRoot, type Root, syncDirectory } from './files.ts'
import { storeFileName } from './layout.ts'

/**
 * Writes the store's newest durable state to `file`, which must not exist yet; its mode is 0600. The store may be in use, by
 * this process or another one. Throws StoreOpenError for what is not a store, ExplainedError for what is wrong with `file`.
 */
export async function saveSnapshot(dataDirectory: string, file: string): Promise<void> {
  const target = resolve(file)
  if (existsSync(target)) throw occupied(target)
  const running = openFileOf(dataDirectory)
  const root = running?.root ?? openForReading(dataDirectory)
  try {
    await explained(target, async () => {
      // LMDB makes the copy's file with the usual rights: a folder of our own keeps it from others' eyes.
      const folder = await mkdtemp(join(dirname(target), `.${basename(target)}-`))
      try {
        const copy = join(folder, storeFileName)
        await backup(running?.root ?? root, copy, running?.copies)
        await chmod(copy, 0o600)
        await putInPlace(copy, target)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  } finally {
    if (!running) await root.close()
  }
}

/**
 * Makes a store in `dataDirectory`, which must not hold one, from a file that `saveSnapshot` wrote. Its revisions go on from
 * the snapshot's. Throws StoreOpenError for what is not a snapshot, ExplainedError for what is wrong with the directory.
 */
export async function restoreSnapshot(file: string, dataDirectory: string): Promise<void> {
  if (checkStoreFile(file) === 'absent') throw new ExplainedError(`${file} is not there, or is empty: give a file that \`t8s snapshot save\` wrote`)
  await explained(dataDirectory, async () => {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
    const directory = realpathSync(dataDirectory)
    const target = join(directory, storeFileName)
    if (existsSync(target)) throw occupied(target)
    const copy = join(directory, `.${storeFileName}-${randomBytes(6).toString('hex')}`)
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL)
      await chmod(copy, 0o600)
      await disown(copy, file)
      await putInPlace(copy, target)
    } finally {
      await rm(copy, { force: true })
      await rm(lockFile(copy), { force: true })
    }
  })
}

/** Copies; a store of this process is not closed meanwhile. */
async function backup(root: Root, copy: string, copies = new Set<Promise<void>>()): Promise<void> {
  const copying = root.backup(copy, true)
  copies.add(copying)
  try {
    await copying
  } finally {
    copies.delete(copying)
  }
}

function openForReading(dataDirectory: string): Root {
  const file = join(resolve(dataDirectory), storeFileName)
  if (checkStoreFile(file) === 'absent') throw new StoreOpenError(`${dataDirectory} holds no store: check --data-dir`)
  const root = openRoot(file, true)
  if (hasFormat(root, file)) return root
  void root.close()
  throw foreign(file)
}

/** Gives a file its durable name, unless the name is taken. */
async function putInPlace(from: string, to: string): Promise<void> {
  const handle = await open(from, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await link(from, to)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw occupied(to)
    // Some file systems have no hard links.
    await rename(from, to)
  }
  syncDirectory(dirname(to))
}

const occupied = (file: string): ExplainedError => new ExplainedError(`${file} exists already: it was left as it is; give another name or move it away`)

async function explained(path: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof ExplainedError || error instanceof StoreOpenError) throw error
    throw new ExplainedError(`cannot write ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
