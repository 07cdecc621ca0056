/** Removes folders of volumes without touching what is mounted in them. */
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { undefinedIfMissing } from '../files/missing.ts'
import { mountsWithin } from './mount-table.ts'
import type { Mounter } from './mounter.ts'

/** Unmounts all mounts at the path and beneath it. Rejects if one remains. */
export async function unmountAll(mounter: Mounter, path: string): Promise<void> {
  for (const { target } of mountsWithin(await mounter.list(), path)) await mounter.unmount(target)
  const [remaining] = mountsWithin(await mounter.list(), path)
  if (remaining) throw new Error(`${remaining.target} is still mounted`)
}

/**
 * Unmounts all mounts in a folder, such as those that a container made with bidirectional propagation, and removes the
 * folder with its content. Does nothing for a missing folder.
 */
export async function clearFolder(mounter: Mounter, path: string): Promise<void> {
  await unmountAll(mounter, path)
  await removeTree(path)
}

/**
 * Removes a folder with its content. Does not follow symlinks, and does not leave the file system of the folder: a
 * mount that has appeared meanwhile keeps its content, and the removal is rejected.
 */
export async function removeTree(path: string): Promise<void> {
  const stats = await lstat(path).catch(undefinedIfMissing)
  if (!stats) return
  if (stats.isDirectory()) await removeFolder(path, stats.dev)
  else await unlink(path)
}

async function removeFolder(path: string, device: number): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (!entry.isDirectory()) await unlink(child)
    else if ((await lstat(child)).dev === device) await removeFolder(child, device)
    else throw new Error(`${child} is another file system`)
  }
  await rmdir(path)
}

/** Removes a folder if it is empty; does nothing if it is missing. */
export async function removeIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
