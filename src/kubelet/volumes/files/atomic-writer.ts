/**
 * Writes the files of a volume so that readers see either all old or all new content. The files are in a folder with a
 * timestamp; the symlink `..data` names the current one, and is replaced by a rename. The names that a container reads
 * are symlinks through `..data`. Layout and names are upstream's, so that either kubelet continues the other's volumes.
 */
import { randomInt } from 'node:crypto'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Payload, validPayload } from '../content/payload.ts'
import { undefinedIfMissing } from './missing.ts'

const dataLink = '..data'
const newDataLink = '..data_tmp'
const versionName = /^\.\.\d{4}(?:_\d{2}){5}\.\d+$/

export interface WriteOptions {
  /** Wall time in ms since 1970. Default: now. */
  readonly now?: number
  /** Called with the folder of the new version before it becomes visible, as to set its group. */
  readonly prepare?: (folder: string) => Promise<void>
}

/**
 * Writes a payload to a folder, which must exist. Unchanged content is not written. Resolves with true if the content
 * has changed. One write at a time: the caller sees to that. An interrupted write is completed by the next one.
 */
export async function writeAtomically(folder: string, files: Payload, options: WriteOptions = {}): Promise<boolean> {
  const payload = validPayload(files)
  const current = await readlink(join(folder, dataLink)).catch(undefinedIfMissing)
  if (current !== undefined && (await isCurrent(join(folder, current), payload))) {
    await linkNames(folder, payload)
    await removeOthers(folder, payload, current)
    return false
  }
  const version = await makeVersion(folder, options.now ?? Date.now())
  try {
    await writeFiles(join(folder, version), payload)
    await options.prepare?.(join(folder, version))
    await rm(join(folder, newDataLink), { force: true })
    await symlink(version, join(folder, newDataLink))
    await rename(join(folder, newDataLink), join(folder, dataLink))
  } catch (error) {
    await rm(join(folder, version), { recursive: true, force: true })
    throw error
  }
  await linkNames(folder, payload)
  await removeOthers(folder, payload, version)
  return true
}

/** True if the version has exactly these files with this content. */
async function isCurrent(version: string, payload: Payload): Promise<boolean> {
  const present = await filesIn(version)
  if (present.length !== payload.size || !present.every((path) => payload.has(path))) return false
  for (const [path, { data }] of payload) if (!(await readFile(join(version, path))).equals(data)) return false
  return true
}

/** The paths of all files in a folder. Empty for a missing one. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true, recursive: true }).catch(undefinedIfMissing)) ?? []
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/** Makes a folder with a name such as `..2026_01_31_12_00_00.123456789`, which everybody may enter. */
async function makeVersion(folder: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '_')
  for (;;) {
    const name = `..${time}.${randomInt(1, 4_294_967_295)}`
    try {
      await mkdir(join(folder, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    await chmod(join(folder, name), 0o755)
    return name
  }
}

async function writeFiles(version: string, payload: Payload): Promise<void> {
  for (const [path, { data, mode, owner }] of payload) {
    const file = join(version, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, data, { mode, flag: 'wx' })
    if (owner !== undefined) await chown(file, owner, -1)
    // The umask does not apply.
    await chmod(file, mode)
  }
}

/** Makes the symlinks by which containers read the files: one for each name at the top. */
async function linkNames(folder: string, payload: Payload): Promise<void> {
  for (const name of topNames(payload)) {
    const link = join(folder, name)
    if (!(await lstat(link).catch(undefinedIfMissing))) await symlink(join(dataLink, name), link)
  }
}

/** Removes names that the payload no longer has, and versions that are not current. */
async function removeOthers(folder: string, payload: Payload, version: string): Promise<void> {
  const names = topNames(payload)
  for (const { name } of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, name)
    if (versionName.test(name)) {
      if (name !== version) await rm(path, { recursive: true, force: true })
    } else if (!name.startsWith('..') && !names.has(name) && (await isOwnLink(path, name))) await unlink(path)
  }
}

/** Mount points of other volumes in this one are folders, and stay. */
const isOwnLink = async (path: string, name: string): Promise<boolean> =>
  (await readlink(path).catch(() => undefined)) === join(dataLink, name)

const topNames = (payload: Payload): Set<string> => new Set([...payload.keys()].map((path) => path.split('/')[0]!))
