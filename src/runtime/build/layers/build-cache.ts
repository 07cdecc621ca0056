/** Layers of earlier builds, by everything that they were made from. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import type { ImageStore, Lease, NewLayer } from '../../images/index.ts'

/** The result of an instruction that changes files. */
export interface CachedLayer {
  /** Absent if nothing has changed. */
  readonly layer?: NewLayer
  /** RFC 3339. */
  readonly created: string
}

/** The key of a step, of any values that JSON has. */
export const cacheKey = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

export class BuildCache {
  readonly #store: ImageStore
  readonly #lease: Lease
  readonly #folder: string

  constructor(store: ImageStore, lease: Lease) {
    this.#store = store
    this.#lease = lease
    this.#folder = join(store.paths.root, 'build-cache')
  }

  /** Undefined if there is none, or if its layer has been removed. A layer that is returned remains. */
  async find(key: string): Promise<CachedLayer | undefined> {
    const file = join(this.#folder, key)
    if (!existsSync(file)) return undefined
    const found = JSON.parse(readFileSync(file, 'utf8')) as CachedLayer
    if (!found.layer) return found
    await this.#lease.add([found.layer.digest])
    return this.#store.blobs.has(found.layer.digest) ? found : undefined
  }

  put(key: string, result: CachedLayer): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writeFileAtomically(join(this.#folder, key), JSON.stringify(result), 0o600)
  }

  /** Removes records whose layers have been removed with their images. */
  prune(): void {
    if (!existsSync(this.#folder)) return
    for (const key of readdirSync(this.#folder)) {
      const file = join(this.#folder, key)
      const { layer } = JSON.parse(readFileSync(file, 'utf8')) as CachedLayer
      if (layer && !this.#store.blobs.has(layer.digest)) rmSync(file, { force: true })
    }
  }
}
