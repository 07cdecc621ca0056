/** Content of images by digest. A blob is complete and verified, or not there. */
import { createHash, type Hash, randomBytes } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type Digest, digestOf, hexOf } from '../formats/digest.ts'
import { corruptContent, imageNotFound } from '../image-error.ts'
import { syncFolder } from './image-index.ts'
import { isAlive, ownName } from './leases.ts'
import { withStoreLock } from './store-lock.ts'
import type { StorePaths } from './store-paths.ts'

/** A blob that arrives. */
export interface Ingest {
  /** Bytes that an earlier attempt has left. */
  readonly offset: number
  /** Throws an ImageError if there are more bytes than the descriptor has stated. */
  write(chunk: Uint8Array): void
  /** Forgets all bytes, for a server that cannot resume. */
  restart(): void
  /** Verifies the blob and makes it durable. Throws an ImageError, and forgets all bytes, if it is wrong. */
  commit(): void
  /** Leaves the bytes for a later attempt. */
  suspend(): void
}

export class BlobStore {
  readonly #paths: StorePaths
  /** Files of this process that are being written. */
  readonly #active = new Set<string>()

  constructor(paths: StorePaths) {
    this.#paths = paths
    for (const folder of [paths.blobs, paths.ingest]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  path(digest: Digest): string {
    return join(this.#paths.blobs, hexOf(digest))
  }

  has(digest: Digest): boolean {
    return existsSync(this.path(digest))
  }

  /** In bytes. Throws a NotFound error if it is missing. */
  size(digest: Digest): number {
    const stats = statSync(this.path(digest), { throwIfNoEntry: false })
    if (!stats) throw imageNotFound(`blob ${digest}`)
    return stats.size
  }

  /** Reads a small blob and verifies it. Throws an ImageError if it is missing, longer than `limit`, or damaged. */
  read(digest: Digest, limit: number): Buffer {
    const size = this.size(digest)
    if (size > limit) throw corruptContent(`${digest} has ${size} bytes, at most ${limit} are accepted`)
    const bytes = readFileSync(this.path(digest))
    if (digestOf(bytes) !== digest) throw corruptContent(`${this.path(digest)} is damaged: remove and pull its image`)
    return bytes
  }

  stream(digest: Digest, range?: { readonly start: number; readonly end?: number }): Readable {
    return createReadStream(this.path(digest), { highWaterMark: 1 << 18, ...range })
  }

  /** Stores bytes, and returns their digest. */
  async put(bytes: Uint8Array): Promise<Digest> {
    const digest = digestOf(bytes)
    if (this.has(digest)) return digest
    const ingest = await this.ingest(digest, bytes.byteLength)
    ingest.restart()
    ingest.write(bytes)
    ingest.commit()
    return digest
  }

  /** Moves a file of the store's file system, whose digest is known, to its place. */
  adopt(file: string, digest: Digest): void {
    const fd = openSync(file, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(file, this.path(digest))
    syncFolder(this.#paths.blobs)
  }

  /** Begins or resumes a blob of a stated size in bytes. Each ingest has a file of its own. */
  async ingest(digest: Digest, size: number): Promise<Ingest> {
    const file = join(this.#paths.ingest, `${ownName()}.${randomBytes(6).toString('hex')}.${hexOf(digest)}`)
    this.#active.add(file)
    await this.#adopt(digest, file)
    return new FileIngest({ file, target: this.path(digest), digest, size, closed: () => this.#active.delete(file) })
  }

  /** Gives the largest file that nobody writes any more to a new ingest. */
  async #adopt(digest: Digest, file: string): Promise<void> {
    const suffix = `.${hexOf(digest)}`
    await withStoreLock(this.#paths.lock, () => {
      const [largest] = readdirSync(this.#paths.ingest)
        .filter((name) => name.endsWith(suffix) && this.isAbandoned(name))
        .map((name) => join(this.#paths.ingest, name))
        .sort((a, b) => statSync(b).size - statSync(a).size)
      if (largest) renameSync(largest, file)
    })
  }

  /** True for a file of the ingest folder that nobody writes. */
  isAbandoned(name: string): boolean {
    return !(isAlive(name) && (!name.startsWith(`${ownName()}.`) || this.#active.has(join(this.#paths.ingest, name))))
  }
}

interface IngestOptions {
  readonly file: string
  readonly target: string
  readonly digest: Digest
  readonly size: number
  readonly closed: () => void
}

class FileIngest implements Ingest {
  readonly #options: IngestOptions
  readonly #fd: number
  #hash: Hash
  #length: number
  readonly offset: number

  constructor(options: IngestOptions) {
    this.#options = options
    this.#fd = openSync(options.file, 'a+', 0o600)
    this.#hash = createHash('sha256')
    this.#length = hashFile(this.#fd, this.#hash)
    if (this.#length > options.size) this.restart()
    this.offset = this.#length
  }

  write(chunk: Uint8Array): void {
    const { size, digest } = this.#options
    if (this.#length + chunk.byteLength > size) {
      this.#discard()
      throw corruptContent(`${digest} is longer than the ${size} bytes of its descriptor`)
    }
    for (let at = 0; at < chunk.byteLength; ) at += writeSync(this.#fd, chunk, at)
    this.#hash.update(chunk)
    this.#length += chunk.byteLength
  }

  restart(): void {
    ftruncateSync(this.#fd)
    this.#hash = createHash('sha256')
    this.#length = 0
  }

  commit(): void {
    const { file, target, digest, size } = this.#options
    const found = `sha256:${this.#hash.digest('hex')}`
    if (this.#length !== size || found !== digest) {
      this.#discard()
      throw corruptContent(
        found === digest
          ? `${digest} has ${this.#length} bytes: its descriptor states ${size}`
          : `unexpected commit digest ${found}, expected ${digest}: failed precondition`,
      )
    }
    fsyncSync(this.#fd)
    renameSync(file, target)
    this.#close()
    syncFolder(join(target, '..'))
  }

  suspend(): void {
    this.#close()
  }

  #discard(): void {
    rmSync(this.#options.file, { force: true })
    this.#close()
  }

  #isClosed = false

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#fd)
    this.#options.closed()
  }
}

/** Returns the number of bytes. */
function hashFile(fd: number, hash: Hash): number {
  const { size } = fstatSync(fd)
  const buffer = Buffer.allocUnsafe(Math.min(size, 1 << 20))
  let at = 0
  for (let read = -1; read !== 0 && at < size; at += read) {
    read = readSync(fd, buffer, 0, buffer.length, at)
    hash.update(buffer.subarray(0, read))
  }
  return at
}
