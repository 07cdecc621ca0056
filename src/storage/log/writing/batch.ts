/** The bytes of one durable write, in a reusable buffer. */
import {
  blockHeaderBytes,
  blockMagic,
  type Kind,
  kinds,
  recordHeadBytes,
  writeBlockHeader,
  writeRecord,
} from '../layout.ts'

/** Maximum size of the buffer between two writes. */
const maxIdleBytes = 512 * 1024

export class Batch {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024)
  #length: number = blockHeaderBytes
  #records = 0
  #newestRevision = 0

  /** Offset of the first record. */
  readonly firstRecord = blockHeaderBytes

  /** Offset of the next record. */
  get length(): number {
    return this.#length
  }

  /** The newest revision of its versions; 0 if it contains only moved versions. */
  get newestRevision(): number {
    return this.#newestRevision
  }

  get isEmpty(): boolean {
    return this.#records === 0
  }

  /** Starts a new batch. The bytes of the last one must have been written. */
  clear(): void {
    if (this.#bytes.length > maxIdleBytes) this.#bytes = Buffer.allocUnsafeSlow(maxIdleBytes)
    this.#length = blockHeaderBytes
    this.#records = 0
    this.#newestRevision = 0
  }

  /** Adds a record of a version, or a mark, which has no key. */
  add(kind: Kind, key: string, revision: number, value?: Buffer): void {
    this.#reserve(recordHeadBytes + key.length * 3 + (value?.length ?? 0))
    this.#length = writeRecord(this.#bytes, this.#length, kind, key, revision, value)
    if (kind === kinds.put || kind === kinds.delete) this.#newestRevision = Math.max(this.#newestRevision, revision)
    this.#records++
  }

  /** Adds an encoded record. */
  addWhole(record: Buffer): void {
    this.#reserve(record.length)
    this.#length += record.copy(this.#bytes, this.#length)
    this.#records++
  }

  /** Returns the bytes for this position of the file. */
  finish(position: number, store: number): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    writeBlockHeader(bytes, { magic: blockMagic.batch, bytes: this.#length, records: this.#records }, position, store)
    return bytes
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
