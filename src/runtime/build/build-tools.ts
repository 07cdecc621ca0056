/** The parts that all steps of a build share. */
import { randomBytes } from 'node:crypto'
import {
  ImageError,
  type ImageStore,
  type LatestTime,
  LayerArchive,
  type LayeredSnapshots,
  type Lease,
  ownName,
} from '../images/index.ts'
import { filesOf, type ImageState, layersOf } from './image-document.ts'
import type { BuildCache, CachedLayer } from './layers/build-cache.ts'

export interface BuildToolsOptions {
  readonly store: ImageStore
  readonly snapshots: LayeredSnapshots
  readonly cache: BuildCache
  readonly lease: Lease
  /** `SOURCE_DATE_EPOCH`: later times of files are replaced by it. */
  readonly latest: LatestTime
  readonly usesCache: boolean
  readonly signal: AbortSignal | undefined
}

export class BuildTools {
  readonly options: BuildToolsOptions
  /** True if files of layers can have all owners. */
  readonly isRoot = process.geteuid?.() === 0

  constructor(options: BuildToolsOptions) {
    this.options = options
  }

  /** The layer of an earlier build; undefined if there is none. */
  async cached(key: string): Promise<CachedLayer | undefined> {
    return this.options.usesCache ? this.options.cache.find(key) : undefined
  }

  /** Makes a layer, unless nothing is added to it, and stores it by its keys. */
  async makeLayer(keys: readonly string[], fill: (archive: LayerArchive) => Promise<void>): Promise<CachedLayer> {
    const { store, lease, cache, signal } = this.options
    const archive = new LayerArchive(store)
    try {
      await fill(archive)
      signal?.throwIfAborted()
      const isEmpty = archive.entries === 0
      const layer = isEmpty ? undefined : await archive.finish(lease)
      if (isEmpty) archive.discard()
      const result = { ...(layer && { layer }), created: this.now() }
      for (const key of keys) cache.put(key, result)
      return result
    } catch (error) {
      archive.discard()
      throw error
    }
  }

  /** Gives the files of a state to `use`, for reading. */
  view<Result>(state: Pick<ImageState, 'layers'>, use: (root: string) => Promise<Result>): Promise<Result> {
    return this.options.snapshots.view(newRootId(), rootOf(state), use)
  }

  /** RFC 3339. */
  now(): string {
    const { latest } = this.options
    return new Date(latest === undefined ? Date.now() : latest * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  }

  /** In seconds since 1970. */
  get time(): number {
    return this.options.latest ?? Math.floor(Date.now() / 1000)
  }

  /** Options of a tree that adds files to a layer. */
  targetOptions(archive: LayerArchive, root: string) {
    return { archive, root, time: this.time, latest: this.options.latest, hasOwners: this.isRoot }
  }

  /** Throws an ImageError without root, or if changes of files are not in the form of overlayfs. */
  checkRun(): void {
    const { driver } = this.options.snapshots
    if (!this.isRoot) throw new ImageError('FailedPrecondition', 'RUN needs root: use sudo')
    if (driver !== 'overlay' && driver !== 'user-overlay')
      throw new ImageError('FailedPrecondition', `RUN needs overlayfs: the folder of images is used by ${driver}`)
  }
}

/** An ID that shows whether its process still runs. */
export const newRootId = (): string => `${ownName()}.build.${randomBytes(6).toString('hex')}`

/** The part of an image that a root file system needs. */
export const rootOf = (state: Pick<ImageState, 'layers'>) => {
  const files = filesOf(state)
  return { id: files, layers: layersOf(state) }
}
