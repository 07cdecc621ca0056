/** The usage of pods' volumes below the kubelet's folder: `pods/UID/volumes/PLUGIN/NAME`. */
import { lstatSync, readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { FolderUsages } from './folder-usages.ts'
import type { VolumeUsage } from './usage-snapshot.ts'

/** Plugins whose folders are named after the pod's volume, and not after a PersistentVolume. */
const plugins = ['empty-dir', 'configmap', 'secret', 'projected', 'downward-api']

/** `root` is the kubelet's folder. A volume that was not measured yet is missing. */
export function volumeUsages(root: string, uid: string, folders: FolderUsages): VolumeUsage[] {
  const folder = join(root, 'pods', uid, 'volumes')
  return plugins.flatMap((plugin) => {
    const path = join(folder, `kubernetes.io~${plugin}`)
    return namesIn(path).flatMap((name) => usageOf(join(path, name), name, root, folders) ?? [])
  })
}

function usageOf(path: string, name: string, root: string, folders: FolderUsages): VolumeUsage | undefined {
  try {
    const isEphemeral = lstatSync(path).dev === lstatSync(root).dev
    const { blocks, bfree, bavail, bsize, files, ffree } = statfsSync(path)
    // A file system of its own, as in memory, knows its use; of a folder it is measured.
    const used = isEphemeral ? folders.of(path) : { usedBytes: (blocks - bfree) * bsize, inodesUsed: files - ffree }
    return (
      used && {
        name,
        capacityBytes: blocks * bsize,
        availableBytes: bavail * bsize,
        inodes: files,
        inodesFree: ffree,
        ...used,
        isEphemeral,
      }
    )
  } catch {
    // It was unmounted meanwhile.
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
