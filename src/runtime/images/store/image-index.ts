/** The index of an image store: which images there are and how they are named. One file, replaced atomically. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import type { Digest } from '../formats/digest.ts'
import type { ImageConfig } from '../formats/image-config.ts'
import { ImageError } from '../image-error.ts'
import type { StoredLayer } from '../stored-image.ts'

export interface ImageRecord {
  readonly manifest: Digest
  readonly layers: readonly StoredLayer[]
  readonly size: number
  readonly isPinned: boolean
  readonly addedAt: number
  readonly config: ImageConfig
}

/** The meaning of a complete name. */
export interface NameRecord {
  /** The document that the name stands for at the registry: an index or a manifest. */
  readonly target: Digest
  /** The manifest of this platform. */
  readonly manifest: Digest
  readonly image: Digest
}

export interface IndexContent {
  readonly version: 1
  readonly images: ReadonlyMap<Digest, ImageRecord>
  readonly names: ReadonlyMap<string, NameRecord>
}

const empty: IndexContent = { version: 1, images: new Map(), names: new Map() }

export class ImageIndexFile {
  readonly #path: string
  #content = empty
  /** Identifies the version of the file that was read. */
  #stamp = ''

  constructor(path: string) {
    this.#path = path
  }

  /** Reads the file if another process has replaced it. Throws for a file of a later version. */
  read(): IndexContent {
    const stats = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    const stamp = stats ? `${stats.ino}:${stats.mtimeNs}:${stats.size}` : ''
    if (stamp === this.#stamp) return this.#content
    this.#content = this.#load()
    this.#stamp = stamp
    return this.#content
  }

  /** Replaces the file, and returns when it is on the disk. Call it while the store is locked. */
  write(content: IndexContent): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    const { version, images, names } = content
    const document = { version, images: Object.fromEntries(images), names: Object.fromEntries(names) }
    writeFileAtomically(this.#path, `${JSON.stringify(document)}\n`, 0o600)
    syncFolder(dirname(this.#path))
  }

  #load(): IndexContent {
    let text: string
    try {
      text = readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return empty
      throw error
    }
    const { version, images, names } = JSON.parse(text) as {
      readonly version: number
      readonly images: Readonly<Record<Digest, ImageRecord>>
      readonly names: Readonly<Record<string, NameRecord>>
    }
    if (version !== 1)
      throw new ImageError('FailedPrecondition', `${this.#path} has the version ${version}: use the t8s that wrote it`)
    return { version, images: new Map(Object.entries(images)), names: new Map(Object.entries(names)) }
  }
}

/** Makes renames in a folder durable. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
