/**
 * Opens and makes paths inside a volume whose content a container controls. Symlinks inside the volume may point within
 * it; whatever leads out of it is refused, also if it is replaced while it is opened (kubernetes 60813, 104980).
 */
import { chmod, type FileHandle, mkdir, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { handlePath, openEntry, openPath } from '../files/handles.ts'

/** Opens an existing path of a volume; the caller closes it. Rejects if the path leads out of the volume. */
export async function safeOpen(volume: string, subPath: string): Promise<FileHandle> {
  const base = await realpath(volume)
  return openWithin(base, await realpath(join(base, subPath)))
}

/**
 * Makes the missing folders of a path with exactly this mode. Does nothing if the path exists. Rejects if the path
 * leads out of the volume, or if a part of it is not a folder.
 */
export async function safeMakeFolder(volume: string, subPath: string, mode: number): Promise<void> {
  const base = await realpath(volume)
  const { existing, missing } = await existingPart(base, subPath)
  let folder = await openWithin(base, existing)
  try {
    await checkFolder(folder, existing)
    for (const name of missing) {
      const path = `${handlePath(folder)}/${name}`
      await mkdir(path, { mode })
      const made = await openEntry(folder, name)
      await folder.close()
      folder = made
      await checkFolder(folder, name)
    }
    // The umask does not apply to the last one.
    if (missing.length > 0) await chmod(handlePath(folder), mode)
  } finally {
    await folder.close()
  }
}

/** Opens a path whose symlinks were resolved. One that has appeared since then is refused. */
async function openWithin(base: string, resolved: string): Promise<FileHandle> {
  const names = namesWithin(base, resolved)
  let handle = await openPath(base)
  try {
    await checkNoSymlink(handle, base)
    for (const name of names) {
      const entry = await openEntry(handle, name)
      await handle.close()
      handle = entry
      await checkNoSymlink(handle, name)
    }
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The names on the way from the base to the path. Throws if the path is outside. */
function namesWithin(base: string, path: string): string[] {
  const way = relative(base, path)
  const names = way === '' ? [] : way.split('/')
  if (names[0] === '..') throw new Error(`path ${path} is outside of allowed base ${base}`)
  return names
}

/** The longest part of the path that exists, with its symlinks resolved, and the names after it. */
async function existingPart(
  base: string,
  subPath: string,
): Promise<{ readonly existing: string; readonly missing: readonly string[] }> {
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.')
  for (let count = names.length; count > 0; count--)
    try {
      return { existing: await realpath(join(base, ...names.slice(0, count))), missing: names.slice(count) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  return { existing: base, missing: names }
}

async function checkNoSymlink(handle: FileHandle, name: string): Promise<void> {
  if ((await handle.stat()).isSymbolicLink()) throw new Error(`unexpected symlink found ${name}`)
}

async function checkFolder(handle: FileHandle, name: string): Promise<void> {
  if (!(await handle.stat()).isDirectory()) throw new Error(`${name} is not a directory`)
}
