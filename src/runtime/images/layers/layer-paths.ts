/**
 * Finds the places of entries inside a layer. Names cannot leave it: symbolic links are resolved as by a process whose
 * root is the layer, on top of the layers below. Nothing else writes to the folder meanwhile.
 */
import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs'
import { corruptContent } from '../image-error.ts'
import { bytesOf, textOfBytes } from '../tar/tar-entry.ts'

const maxLinks = 40

/** A path for file systems: strings are faster than bytes, and equal for ASCII. */
export const nativePath = (path: string): string | Buffer => (/[^\0-\x7f]/.test(path) ? bytesOf(path) : path)

/** The parts of a name without `.` and empty ones. Throws an ImageError for a name that leaves the layer. */
export function partsOf(name: string): string[] {
  const parts: string[] = []
  for (const part of name.split('/'))
    if (part === '..') {
      if (parts.pop() === undefined) throw corruptContent(`${JSON.stringify(name)} is outside of the layer`)
    } else if (part !== '' && part !== '.') parts.push(part)
  if (name.includes('\0')) throw corruptContent(`${JSON.stringify(name)} is not a valid name`)
  return parts
}

export const statOf = (path: string): Stats | undefined => lstatSync(nativePath(path), { throwIfNoEntry: false })

/** A file that hides one of the layers below: a character device with the number 0. */
export const isWhiteout = (stats: Stats): boolean => stats.isCharacterDevice() && stats.rdev === 0

/** A file of a layer below. */
export interface LowerFile {
  readonly path: string
  readonly stats: Stats
}

/** A layer below, which may still be unpacked by another thread. */
export interface LowerLayer {
  readonly path: string
  /** One of `layerStates`; absent for a layer that is complete. */
  readonly state?: Int32Array
}

export const layerStates = { pending: 0, complete: 1, failed: 2 } as const

/** Blocks this thread until the layer is complete. Throws an ImageError if it fails. */
function waitFor({ state }: LowerLayer): void {
  if (!state) return
  Atomics.wait(state, 0, layerStates.pending)
  if (Atomics.load(state, 0) === layerStates.failed) throw corruptContent('a layer below could not be unpacked')
}

export interface LayerPathsOptions {
  /** The folder of the layer; a byte string without a slash at its end. */
  readonly root: string
  readonly lower: readonly LowerLayer[]
  /** Called for a folder that has been created because files are in it; `lower` is that of a layer below. */
  created(path: string, lower: LowerFile | undefined): void
  /** Replaces a whiteout by an empty folder that hides what is below. */
  uncover(path: string): void
}

export class LayerPaths {
  readonly #options: LayerPathsOptions
  /** Real folders by the names that lead to them. */
  readonly #known = new Map<string, readonly string[]>()

  constructor(options: LayerPathsOptions) {
    this.#options = options
  }

  /** Forgets folders; call it when a folder or a symbolic link has been replaced. */
  forget(): void {
    this.#known.clear()
  }

  pathOf(parts: readonly string[]): string {
    const { root } = this.#options
    return parts.length === 0 ? root : `${root}/${parts.join('/')}`
  }

  /** Returns the real parts of a folder, and creates it if it is missing. */
  folder(parts: readonly string[]): readonly string[] {
    const key = parts.join('/')
    const known = this.#known.get(key)
    if (known) return known
    const found = this.#walk([...parts], true)!
    this.#known.set(key, found)
    return found
  }

  /** As `folder`, but returns undefined for a missing folder. */
  existingFolder(parts: readonly string[]): readonly string[] | undefined {
    return this.#known.get(parts.join('/')) ?? this.#walk([...parts], false)
  }

  /** The highest file of that place in the layers below; `parts` are real. Symbolic links on the way hide it. */
  lower(parts: readonly string[]): LowerFile | undefined {
    for (const layer of this.#options.lower) {
      waitFor(layer)
      let path = layer.path
      for (const [i, part] of parts.entries()) {
        path += `/${part}`
        const stats = statOf(path)
        if (!stats) break
        if (isWhiteout(stats)) return undefined
        if (i === parts.length - 1) return { path, stats }
        if (!stats.isDirectory()) return undefined
      }
    }
    return undefined
  }

  #walk(pending: string[], create: boolean): readonly string[] | undefined {
    const real: string[] = []
    let links = 0
    for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
      if (part === '..') {
        real.pop()
        continue
      }
      real.push(part)
      const target = this.#linkTarget(real, create)
      if (target === undefined) return undefined
      if (target === '') continue
      if (++links > maxLinks) throw corruptContent(`${real.join('/')} is a loop of symbolic links`)
      if (target.startsWith('/')) real.length = 0
      else real.pop()
      pending.unshift(...target.split('/').filter((piece) => piece !== '' && piece !== '.'))
    }
    return real
  }

  /** The target of a symbolic link; empty for a folder; undefined for a missing one that is not created. */
  #linkTarget(parts: readonly string[], create: boolean): string | undefined {
    const path = this.pathOf(parts)
    const stats = statOf(path)
    if (stats?.isDirectory()) return ''
    if (stats?.isSymbolicLink()) return targetOf(path)
    if (stats && !isWhiteout(stats)) throw corruptContent(`${parts.join('/')} is not a folder`)
    const below = stats ? undefined : this.lower(parts)
    if (below?.stats.isSymbolicLink()) return targetOf(below.path)
    if (below && !below.stats.isDirectory()) throw corruptContent(`${parts.join('/')} is not a folder`)
    if (!create) return below ? '' : undefined
    if (stats) this.#options.uncover(path)
    else mkdirSync(nativePath(path), { mode: 0o755 })
    this.#options.created(path, below)
    return ''
  }
}

const targetOf = (path: string): string => textOfBytes(readlinkSync(nativePath(path), { encoding: 'buffer' }))
