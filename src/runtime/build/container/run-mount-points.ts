/** Files and folders that the runtime creates in a root file system to mount on them: they are no part of the image. */
import { lstatSync, readdirSync, rmdirSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import { resolveInRoot } from '../../spec/root-files.ts'

/** Below `/dev`, `/proc` and `/sys` are file systems of the container. */
const files = ['etc/hostname', 'etc/hosts', 'etc/resolv.conf']
const folders = ['etc', 'dev', 'proc', 'sys']

export class RunMountPoints {
  readonly #root: string
  readonly #missing: readonly string[]
  readonly #folders: readonly (readonly [path: string, stats: Stats])[]

  /** Call it before the container starts. */
  constructor(root: string) {
    this.#root = root
    this.#missing = [...files, ...folders].filter((path) => !statOf(root, path))
    this.#folders = folders.flatMap((path) => {
      const stats = statOf(root, path)
      return stats?.isDirectory() ? [[path, stats] as const] : []
    })
  }

  /** Removes those that have been created, and are empty as the runtime leaves them. */
  removeNew(): void {
    for (const path of this.#missing) {
      const place = placeOf(this.#root, path)
      const stats = place === undefined ? undefined : lstatSync(place, { throwIfNoEntry: false })
      if (place === undefined || !stats) continue
      if (stats.isFile() && stats.size === 0) rmSync(place)
      else if (stats.isDirectory() && readdirSync(place).length === 0) rmdirSync(place)
    }
  }

  /** Removes folders from the changes that are there only because something was created in them and removed. */
  removeUnchangedFolders(changes: string): void {
    for (const [path, before] of this.#folders) {
      const stats = lstatSync(join(changes, path), { throwIfNoEntry: false })
      const isEqual =
        stats?.isDirectory() && stats.mode === before.mode && stats.uid === before.uid && stats.gid === before.gid
      if (isEqual && readdirSync(join(changes, path)).length === 0) rmdirSync(join(changes, path))
    }
  }
}

function statOf(root: string, path: string): Stats | undefined {
  const place = placeOf(root, path)
  return place === undefined ? undefined : lstatSync(place, { throwIfNoEntry: false })
}

/** Links of an image must not lead to the machine's files. Undefined if a part of the path is no folder. */
function placeOf(root: string, path: string): string | undefined {
  try {
    return resolveInRoot(root, path)
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}
