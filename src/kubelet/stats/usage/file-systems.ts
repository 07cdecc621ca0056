/** Usage of file systems and of folders. */
import { lstat, opendir, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** Bytes and numbers of inodes. */
export interface FileSystemUsage {
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly usedBytes: number
  readonly inodes: number
  readonly inodesFree: number
  readonly inodesUsed: number
}

/** A part of a file system. */
export interface FolderUsage {
  readonly usedBytes: number
  readonly inodesUsed: number
}

/** The file system of a path; undefined if the path does not exist. */
export async function fileSystemUsage(path: string): Promise<FileSystemUsage | undefined> {
  try {
    const { blocks, bfree, bavail, bsize, files, ffree } = await statfs(path)
    return {
      capacityBytes: blocks * bsize,
      availableBytes: bavail * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      inodesUsed: files - ffree,
    }
  } catch {
    return undefined
  }
}

const blockBytes = 512

/**
 * The disk space of a folder, as `du` counts it: blocks in use, each file once, on one file system. Files that
 * disappear meanwhile are skipped; links are not followed.
 */
export async function folderUsage(folder: string): Promise<FolderUsage> {
  const seen = new Set<string>()
  let [usedBytes, inodesUsed] = [0, 0]
  let device: number | undefined
  const add = async (path: string): Promise<void> => {
    const entry = await lstat(path).catch(() => undefined)
    if (!entry) return
    device ??= entry.dev
    const isCounted = entry.nlink > 1 && !entry.isDirectory() && seen.has(String(entry.ino))
    if (entry.dev !== device || isCounted) return
    if (entry.nlink > 1) seen.add(String(entry.ino))
    usedBytes += entry.blocks * blockBytes
    inodesUsed++
    if (!entry.isDirectory()) return
    const children = await opendir(path).catch(() => undefined)
    if (children) for await (const { name } of children) await add(join(path, name))
  }
  await add(folder)
  return { usedBytes, inodesUsed }
}
