/** Files and folders that the runtime creates in a root file system to mount on them: they are no part of the image. */
import { lstatSync, readdirSync, rmdirSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'

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
      const stats = statOf(this.#root, path)
      if (stats?.isFile() && stats.size === 0) rmSync(join(this.#root, path))
      else if (stats?.isDirectory() && readdirSync(join(this.#root, path)).length === 0)
        rmdirSync(join(this.#root, path))
    }
  }

  /** Removes folders from the changes that are there only because something was created in them and removed. */
  removeUnchangedFolders(changes: string): void {
    for (const [path, before] of this.#folders) {
      const stats = statOf(changes, path)
      const isEqual = stats?.mode === before.mode && stats.uid === before.uid && stats.gid === before.gid
      if (isEqual && readdirSync(join(changes, path)).length === 0) rmdirSync(join(changes, path))
    }
  }
}

const statOf = (root: string, path: string): Stats | undefined => lstatSync(join(root, path), { throwIfNoEntry: false })
