/**
 * Ownership of a volume by the pod's `fsGroup`: the group of all files, read (and write) bits for it, and setgid on
 * folders so that new files belong to it, too. Other pods may change the volume meanwhile, so nothing is followed.
 */
import { chmod, chown, type FileHandle, lchown, readdir } from 'node:fs/promises'
import { handlePath, openEntry, openPath } from './handles.ts'
import { undefinedIfMissing } from './missing.ts'

const readWrite = 0o660
const readOnly = 0o440
const enter = 0o110
const setGid = 0o2000

export interface GroupOwnership {
  readonly group: number
  readonly isReadOnly: boolean
  /** `OnRootMismatch` skips a volume whose top folder is right already. Default: `Always`. */
  readonly changePolicy?: string
}

/** Sets group and modes of a folder and everything in it. Errors of single files are logged, and others continue. */
export async function applyGroup(
  folder: string,
  ownership: GroupOwnership,
  log: (line: string) => void,
): Promise<void> {
  await using handle = await openPath(folder)
  if (ownership.changePolicy === 'OnRootMismatch' && (await isOwned(handle, ownership))) return
  await applyToFolder(handle, folder, ownership, log)
}

async function isOwned(handle: FileHandle, { group, isReadOnly }: GroupOwnership): Promise<boolean> {
  const stats = await handle.stat()
  const needed = (isReadOnly ? readOnly : readWrite) | enter | setGid
  return stats.isDirectory() && stats.gid === group && (stats.mode & needed) === needed
}

/** The folder itself comes last: its group shows that the work is complete. `shown` is its path for messages. */
async function applyToFolder(
  folder: FileHandle,
  shown: string,
  ownership: GroupOwnership,
  log: (line: string) => void,
): Promise<void> {
  for (const name of await readdir(handlePath(folder))) {
    const path = `${shown}/${name}`
    const entry = await openEntry(folder, name).catch(undefinedIfMissing)
    if (!entry) continue
    try {
      const stats = await entry.stat()
      if (stats.isDirectory()) await applyToFolder(entry, path, ownership, log)
      // A symlink has no mode, and chmod would follow it.
      else if (stats.isSymbolicLink()) await lchown(`${handlePath(folder)}/${name}`, -1, ownership.group)
      else await applyToOne(entry, ownership)
    } catch (error) {
      log(`cannot set the group of ${path}: ${(error as Error).message}`)
    } finally {
      await entry.close()
    }
  }
  await applyToOne(folder, ownership)
}

async function applyToOne(handle: FileHandle, { group, isReadOnly }: GroupOwnership): Promise<void> {
  const stats = await handle.stat()
  const mode = stats.mode & 0o7777
  const wanted = mode | (isReadOnly ? readOnly : readWrite) | (stats.isDirectory() ? enter | setGid : 0)
  if (stats.gid !== group) await chown(handlePath(handle), -1, group)
  // A change of the owner clears setuid and setgid, so the mode is set after it.
  if (stats.gid !== group || mode !== wanted) await chmod(handlePath(handle), wanted)
}
