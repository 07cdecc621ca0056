/** Adds files to a layer at places of a root file system: follows its links, and keeps attributes of its folders. */
import { lstatSync, type Stats } from 'node:fs'
import { join, posix } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import {
  byteString,
  fileEntry,
  type LatestTime,
  type LayerArchive,
  layerAttributes,
  plainEntry,
  type TarEntry,
} from '../../images/index.ts'
import { resolveInRoot } from '../../spec/root-files.ts'
import { StepError } from '../dockerfile/build-error.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface TargetTreeOptions {
  readonly archive: LayerArchive
  /** The files before the step. */
  readonly root: string
  /** Of folders that are created. */
  readonly owner: Owner
  /** The time of folders that are created, in seconds since 1970. */
  readonly time: number
  readonly latest: LatestTime
  /** False if the owners of files in the root are not those of the image. */
  readonly hasOwners: boolean
}

export class TargetTree {
  readonly #options: TargetTreeOptions
  readonly #folders = new Set([''])

  constructor(options: TargetTreeOptions) {
    this.#options = options
  }

  /** The path of a place without a slash at the beginning, after links; '' is the root. Throws a StepError. */
  resolve(path: string): string {
    const { root } = this.#options
    try {
      return resolveInRoot(root, path).slice(root.length).replace(/^\/+/, '')
    } catch (error) {
      if (errorCode(error) === 'ENOTDIR') throw new StepError(`a part of ${path} is no folder in the image`)
      throw error
    }
  }

  /** Of the files before the step; undefined if there is nothing. */
  statOf(path: string): Stats | undefined {
    return lstatSync(join(this.#options.root, path), { throwIfNoEntry: false })
  }

  /** Adds a folder and those above it; new ones belong to the owner. Throws a StepError if one of them is no folder. */
  folder(path: string, mode = 0o755): void {
    if (this.#folders.has(path)) return
    const parent = posix.dirname(path)
    if (parent !== '.') this.folder(parent)
    this.#folders.add(path)
    const stats = this.statOf(path)
    if (stats && !stats.isDirectory()) throw new StepError(`/${path} is no folder in the image`)
    this.#addEmpty(stats ? this.#present(path, stats) : this.#created(path, mode))
  }

  /** Adds a folder with attributes of its own, in place of those that it has. */
  replaceFolder(path: string, entry: TarEntry): void {
    if (path === '') return
    this.#addParents(path)
    const stats = this.statOf(path)
    if (stats && !stats.isDirectory()) throw new StepError(`/${path} is no folder in the image`)
    this.#folders.add(path)
    this.#addEmpty({ ...entry, name: `${byteString(path)}/` })
  }

  /** Prepares the folders of a file. Throws a StepError if a folder is in its place. */
  beforeFile(path: string): void {
    this.#addParents(path)
    if (this.statOf(path)?.isDirectory() || this.#folders.has(path))
      throw new StepError(`/${path} is a folder in the image: a file cannot replace it`)
  }

  #addParents(path: string): void {
    const parent = posix.dirname(path)
    if (parent !== '.') this.folder(parent)
  }

  #present(path: string, stats: Stats): TarEntry {
    const { root, latest, hasOwners } = this.#options
    const place = byteString(join(root, path))
    const entry = fileEntry(`${byteString(path)}/`, place, stats, latest)!
    return { ...entry, ...(!hasOwners && { uid: 0, gid: 0 }), xattrs: hasOwners ? layerAttributes(place) : new Map() }
  }

  #created(path: string, mode: number): TarEntry {
    const { owner, time } = this.#options
    return plainEntry(`${byteString(path)}/`, { type: 'directory', mode, ...owner, mtime: time })
  }

  #addEmpty(entry: TarEntry): void {
    this.#options.archive.beginEntry(entry)
    this.#options.archive.endEntry(entry)
  }
}
