/** Files that `COPY` and `ADD` take: from the build context, or from the root file system of an image. */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join, posix } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import { resolveInRoot } from '../../spec/root-files.ts'
import type { IgnoreRules } from './ignore-file.ts'
import { isPattern, pathPattern } from './path-pattern.ts'

/** A file, folder or link. */
export interface SourceFile {
  /** On this machine. */
  readonly path: string
  /** Below the source: '' for the source itself. */
  readonly name: string
  readonly stats: Stats
}

/** The files of one argument of `COPY`. */
export interface Source {
  /** The last part of its name. */
  readonly baseName: string
  /** The source first, then what is in it, sorted. */
  readonly files: readonly SourceFile[]
}

export interface SourceTreeOptions {
  readonly root: string
  /** Default: nothing is left out. */
  readonly ignored?: IgnoreRules
}

export class SourceTree {
  readonly #root: string
  readonly #ignored: IgnoreRules | undefined

  constructor({ root, ignored }: SourceTreeOptions) {
    this.#root = root
    this.#ignored = ignored
  }

  /**
   * Finds the sources of an argument, sorted; none if there is no such file. Links on the way are followed inside of
   * the root, whatever they point to; the links inside of a folder remain links.
   */
  find(argument: string): Source[] {
    const clean = posix.normalize(`/${argument}`).replace(/\/+$/, '').slice(1)
    const paths = isPattern(clean) ? this.#expand(clean.split('/')) : [clean]
    return paths.flatMap((path) => this.#source(path) ?? [])
  }

  /** Replaces patterns part by part, so that only folders that match are read. */
  #expand(parts: readonly string[]): string[] {
    let found = ['']
    for (const part of parts) {
      const pattern = isPattern(part) ? pathPattern(part) : undefined
      found = found.flatMap((folder) => {
        if (!pattern) return [posix.join(folder, part)]
        return this.#namesIn(folder)
          .filter((name) => pattern.test(name))
          .map((name) => posix.join(folder, name))
      })
    }
    return found
  }

  #namesIn(folder: string): string[] {
    const path = this.#resolve(folder)
    const isFolder = path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isDirectory()
    return isFolder ? readdirSync(path).sort() : []
  }

  /** Undefined if a part of the path is no folder. */
  #resolve(path: string): string | undefined {
    try {
      return resolveInRoot(this.#root, path)
    } catch (error) {
      if (errorCode(error) === 'ENOTDIR') return undefined
      throw error
    }
  }

  #source(relative: string): Source | undefined {
    const path = this.#resolve(relative)
    const stats = path === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false })
    if (path === undefined || !stats) return undefined
    const inRoot = path.slice(this.#root.length).replace(/^\/+/, '')
    const isIgnored = inRoot !== '' && this.#isIgnored(inRoot)
    if (isIgnored && !(stats.isDirectory() && this.#ignored?.hasExceptions)) return undefined
    const files: SourceFile[] = [{ path, name: '', stats }]
    if (stats.isDirectory()) this.#walk(inRoot, '', files)
    return isIgnored && files.length === 1 ? undefined : { baseName: posix.basename(relative), files }
  }

  /** Adds the files of a folder; returns false if there is none. */
  #walk(inRoot: string, name: string, files: SourceFile[]): boolean {
    const before = files.length
    for (const child of readdirSync(join(this.#root, inRoot)).sort()) {
      const path = join(this.#root, inRoot, child)
      const below = posix.join(inRoot, child)
      const childName = posix.join(name, child)
      const stats = lstatSync(path)
      const isIgnored = this.#isIgnored(below)
      if (!stats.isDirectory()) {
        if (!isIgnored) files.push({ path, name: childName, stats })
      } else if (!isIgnored) {
        files.push({ path, name: childName, stats })
        this.#walk(below, childName, files)
      } else if (this.#ignored!.hasExceptions) {
        const at = files.length
        // The folder is needed only if a file in it is.
        if (this.#walk(below, childName, files)) files.splice(at, 0, { path, name: childName, stats })
      }
    }
    return files.length > before
  }

  #isIgnored(path: string): boolean {
    return this.#ignored?.ignores(path) ?? false
  }
}
