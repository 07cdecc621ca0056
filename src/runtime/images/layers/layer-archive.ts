/** Makes a layer: an archive of entries, compressed into a blob of the store. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, createWriteStream, mkdirSync, openSync, readSync, rmSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import type { Digest } from '../formats/digest.ts'
import { mediaTypes } from '../formats/media-types.ts'
import { corruptContent } from '../image-error.ts'
import type { ImageStore } from '../store/image-store.ts'
import { type Lease, ownName } from '../store/leases.ts'
import { type TarEntry, textOfBytes } from '../tar/tar-entry.ts'
import { archiveEnd, encodeHeader, paddingAfter } from '../tar/tar-writer.ts'

/** A layer without its place in an image. */
export interface NewLayer {
  readonly digest: Digest
  readonly size: number
  readonly mediaType: string
  readonly diffId: Digest
}

/** Fast: layers of builds are used here first, and are read more often than sent. */
const compressionLevel = 1
const chunkBytes = 1 << 20

export class LayerArchive {
  readonly #store: ImageStore
  readonly #file: string
  readonly #gzip: Gzip = createGzip({ level: compressionLevel, chunkSize: chunkBytes })
  readonly #output: WriteStream
  readonly #written: Promise<void>
  readonly #archiveHash = createHash('sha256')
  readonly #blobHash = createHash('sha256')
  #size = 0
  #needsDrain = false
  /** Bytes of the current entry's content that are missing. */
  #missing = 0
  entries = 0

  constructor(store: ImageStore) {
    this.#store = store
    const folder = join(store.paths.unfinished, `${ownName()}.${randomBytes(6).toString('hex')}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#file = join(folder, 'layer')
    this.#output = createWriteStream(this.#file, { mode: 0o600 })
    this.#gzip.on('data', (chunk: Buffer) => {
      this.#blobHash.update(chunk)
      this.#size += chunk.length
    })
    this.#written = finished(this.#gzip.pipe(this.#output))
    // Reported when the layer is finished.
    this.#written.catch(() => {})
    this.#gzip.on('error', (error) => this.#output.destroy(error))
    this.#output.on('error', (error) => this.#gzip.destroy(error))
  }

  /** Begins an entry; `write` its content, and `endEntry`. */
  beginEntry(entry: TarEntry): void {
    this.entries++
    this.#push(encodeHeader(entry))
    this.#missing = entry.type === 'file' ? entry.size : 0
  }

  write(chunk: Buffer): void {
    this.#missing -= chunk.length
    this.#push(chunk)
  }

  /** Throws an ImageError if the content has another size than its entry. */
  endEntry({ name, size, type }: TarEntry): void {
    if (this.#missing !== 0) throw corruptContent(`${nativeText(name)} has changed while it was read`)
    if (type === 'file') this.#push(paddingAfter(size))
  }

  /** Resolves when the compression can take more. */
  async drained(): Promise<void> {
    if (this.#needsDrain) await Promise.race([once(this.#gzip, 'drain'), this.#written])
    this.#needsDrain = false
  }

  /** Adds an entry with the content of a file of this machine, or without content. */
  async add(entry: TarEntry, file?: string | Buffer): Promise<void> {
    this.beginEntry(entry)
    if (file !== undefined && entry.size > 0) {
      const fd = openSync(file, 'r')
      try {
        while (this.#missing > 0) {
          const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, this.#missing))
          const length = readSync(fd, chunk)
          if (length === 0) break
          this.write(chunk.subarray(0, length))
          await this.drained()
        }
      } finally {
        closeSync(fd)
      }
    }
    this.endEntry(entry)
    await this.drained()
  }

  /** Adds the blob to the store, under the protection of a lease. */
  async finish(lease: Lease): Promise<NewLayer> {
    this.#push(archiveEnd)
    this.#gzip.end()
    await this.#written
    const digest = `sha256:${this.#blobHash.digest('hex')}`
    const diffId = `sha256:${this.#archiveHash.digest('hex')}`
    await lease.add([digest])
    if (!this.#store.blobs.has(digest)) this.#store.blobs.adopt(this.#file, digest)
    rmSync(join(this.#file, '..'), { recursive: true, force: true })
    return { digest, size: this.#size, mediaType: mediaTypes.gzipLayer, diffId }
  }

  /** Deletes what has been written. */
  discard(): void {
    this.#gzip.destroy()
    this.#output.destroy()
    rmSync(join(this.#file, '..'), { recursive: true, force: true })
  }

  #push(bytes: Buffer): void {
    this.#archiveHash.update(bytes)
    if (!this.#gzip.write(bytes)) this.#needsDrain = true
  }
}

/** Names are byte strings. */
const nativeText = (name: string): string => Buffer.from(name, 'latin1').toString()

/** The byte string of a text. */
export const byteString = (text: string): string => textOfBytes(Buffer.from(text))
