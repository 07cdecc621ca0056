/**
 * Binds of sub paths: a file or folder of a volume is bound to a path of the kubelet, which the runtime mounts. The
 * runtime never resolves a path that a container controls. Paths are upstream's:
 * `POD/volume-subpaths/VOLUME/CONTAINER/INDEX`.
 */
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sharedHandlePath } from '../files/handles.ts'
import { undefinedIfMissing } from '../files/missing.ts'
import { removeTree, unmountAll } from '../mounts/clear-folder.ts'
import { mountAt } from '../mounts/mount-table.ts'
import type { Mounter } from '../mounts/mounter.ts'
import { safeOpen } from './safe-open.ts'

export interface SubPath {
  /** The folder of the volume on the host. */
  readonly volumePath: string
  readonly subPath: string
  /** `POD/volume-subpaths/VOLUME/CONTAINER/INDEX`. */
  readonly target: string
}

/** Binds an existing sub path to its target. A target that is bound to the same file stays. */
export async function bindSubPath(mounter: Mounter, { volumePath, subPath, target }: SubPath): Promise<void> {
  await using handle = await safeOpen(volumePath, subPath)
  const source = await handle.stat({ bigint: true })
  if (mountAt(await mounter.list(), target)) {
    const bound = await lstat(target, { bigint: true }).catch(() => undefined)
    if (bound && bound.dev === source.dev && bound.ino === source.ino) return
    // As after an update of a configMap: the name leads to a new file.
    await unmountAll(mounter, target)
  }
  await makeTarget(target, source.isDirectory())
  await mounter.mount({ source: sharedHandlePath(handle), target, options: ['bind'] })
}

/** A file can be the target of everything but a folder. */
async function makeTarget(target: string, isFolder: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o750 })
  const present = await lstat(target).catch(undefinedIfMissing)
  if (present && present.isDirectory() !== isFolder) await removeTree(target)
  else if (present) return
  if (isFolder) await mkdir(target, { mode: 0o750 })
  else await writeFile(target, '', { mode: 0o640 })
}

/**
 * Unmounts and removes all binds of a pod. What is bound is never removed: a target must be an empty folder or file.
 * Also stale mounts (kubernetes 107667) are unmounted, since the mounts are found in the kernel's table.
 */
export async function clearSubPaths(mounter: Mounter, folder: string): Promise<void> {
  await unmountAll(mounter, folder)
  for (const volume of await namesIn(folder))
    for (const container of await namesIn(join(folder, volume)))
      for (const index of await namesIn(join(folder, volume, container)))
        await removeTarget(join(folder, volume, container, index))
  await removeTree(folder)
}

async function removeTarget(target: string): Promise<void> {
  const stats = await lstat(target)
  const isEmpty = stats.isDirectory() ? (await readdir(target)).length === 0 : stats.size === 0
  if (!isEmpty) throw new Error(`${target} is not empty: it is not removed`)
  await removeTree(target)
}

const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(undefinedIfMissing)) ?? []
