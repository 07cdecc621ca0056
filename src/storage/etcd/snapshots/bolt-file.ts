/**
 * Reads a file of bbolt, the database of etcd: buckets of ordered keys in a tree of pages. All numbers are
 * little-endian. https://github.com/etcd-io/bbolt describes the layout in its sources.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StoreOpenError } from '../../store.ts'

const magic = 0xed0cdaed
const layoutVersion = 2
const pageHeaderBytes = 16
const elementBytes = 16
const bucketHeaderBytes = 16
const flags = { branch: 1, leaf: 2, meta: 4 } as const
/** The flag of a leaf element whose value is a bucket. */
const isBucket = 1
/** The page size is in the header of the file, which is read before it is known. */
const probeBytes = 4096
const knownPageSizes = [1024, 2048, 4096, 8192, 16384, 32768, 65536]

export interface BoltItem {
  readonly key: Buffer
  /** Valid until the next item is read. */
  readonly value: Buffer
}

interface Meta {
  readonly pageSize: number
  readonly root: number
  readonly transaction: bigint
}

export class BoltFile {
  readonly #fd: number
  readonly #path: string
  readonly #meta: Meta
  readonly #pages: number

  /** Throws StoreOpenError if it is not such a file, or an older format. */
  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, 'r')
    try {
      this.#meta = this.#readMeta()
      this.#pages = Math.floor(fstatSync(this.#fd).size / this.#meta.pageSize)
    } catch (error) {
      closeSync(this.#fd)
      throw error
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  /** Yields the items of a bucket in the order of their keys; none if there is no such bucket. */
  *items(bucket: string): Generator<BoltItem> {
    for (const { key, value, isNested } of this.#walk(this.#meta.root, 0))
      if (isNested && key.toString() === bucket) yield* this.#bucket(Buffer.from(value))
  }

  *#bucket(value: Buffer): Generator<BoltItem> {
    const root = number64(value, 0)
    if (root === 0) yield* this.#leaf(value.subarray(bucketHeaderBytes))
    else yield* this.#walk(root, 0)
  }

  *#walk(id: number, depth: number): Generator<BoltItem & { readonly isNested: boolean }> {
    const page = this.#page(id)
    const kind = page.readUInt16LE(8)
    if (kind & flags.leaf) yield* this.#leaf(page)
    else if (kind & flags.branch && depth < 64) {
      for (let i = 0; i < page.readUInt16LE(10); i++)
        yield* this.#walk(number64(page, pageHeaderBytes + i * elementBytes + 8), depth + 1)
    } else throw this.#damaged(`page ${id} is no part of a tree`)
  }

  *#leaf(page: Buffer): Generator<BoltItem & { readonly isNested: boolean }> {
    const count = page.readUInt16LE(10)
    for (let i = 0; i < count; i++) {
      const element = pageHeaderBytes + i * elementBytes
      if (element + elementBytes > page.length) throw this.#damaged('a page ends in the middle')
      const keyAt = element + page.readUInt32LE(element + 4)
      const valueAt = keyAt + page.readUInt32LE(element + 8)
      const end = valueAt + page.readUInt32LE(element + 12)
      if (end > page.length) throw this.#damaged('a page ends in the middle')
      yield {
        key: page.subarray(keyAt, valueAt),
        value: page.subarray(valueAt, end),
        isNested: page.readUInt32LE(element) === isBucket,
      }
    }
  }

  /** A page with those that it continues in. */
  #page(id: number): Buffer {
    const { pageSize } = this.#meta
    const first = this.#read(id, pageSize)
    const overflow = first.readUInt32LE(12)
    if (number64(first, 0) !== id) throw this.#damaged(`page ${id} is missing`)
    return overflow === 0 ? first : this.#read(id, pageSize * (overflow + 1))
  }

  #read(id: number, bytes: number): Buffer {
    const { pageSize } = this.#meta
    if (id + bytes / pageSize > this.#pages) throw this.#damaged('it is shorter than its pages')
    const target = Buffer.allocUnsafe(bytes)
    if (readSync(this.#fd, target, 0, bytes, id * pageSize) < bytes) throw this.#damaged('it cannot be read')
    return target
  }

  /** The newer of the two headers, of which a write in progress may have damaged one. */
  #readMeta(): Meta {
    const first = this.#metaAt(0)
    const sizes = first ? [first.pageSize] : knownPageSizes
    const metas = [first, ...sizes.map((size) => this.#metaAt(size))].filter((meta) => meta !== undefined)
    const [newest] = metas.sort((a, b) => Number(b.transaction - a.transaction))
    if (!newest)
      throw new StoreOpenError(
        `${this.#path} is not a snapshot of etcd: give a file that \`t8s snapshot save\` or ` +
          '`etcdctl snapshot save` wrote',
      )
    return newest
  }

  #metaAt(position: number): Meta | undefined {
    const bytes = Buffer.alloc(probeBytes)
    if (readSync(this.#fd, bytes, 0, probeBytes, position) < pageHeaderBytes + 64) return undefined
    const meta = bytes.subarray(pageHeaderBytes, pageHeaderBytes + 64)
    if (meta.readUInt32LE(0) !== magic || meta.readUInt32LE(4) !== layoutVersion) return undefined
    if (meta.readBigUInt64LE(56) !== checksum(meta.subarray(0, 56))) return undefined
    return {
      pageSize: meta.readUInt32LE(8),
      root: number64(meta, 16),
      transaction: meta.readBigUInt64LE(48),
    }
  }

  #damaged(why: string): StoreOpenError {
    return new StoreOpenError(`${this.#path} is damaged (${why}): take another snapshot`)
  }
}

/** Positions and numbers of pages are far below 2⁵³. */
const number64 = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at))

/** FNV-1a with 64 bits. */
function checksum(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash
}
