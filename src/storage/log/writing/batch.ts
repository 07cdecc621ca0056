/** The bytes of one durable write, in a buffer that is used again and again. */
import {
  blockHeaderBytes,
  blockMagic,
  type Kind,
  kinds,
  recordHeadBytes,
  writeBlockHeader,
  writeRecord,
} from '../layout.ts'

/** What is kept between two writes. */
const keptBytes = 512 * 1024

export class Batch {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024)
  #length: number = blockHeaderBytes
  #records = 0
  #newestRevision = 0

  /** Where the first record begins. */
  readonly firstRecord = blockHeaderBytes

  /** Where the next record will begin. */
  get length(): number {
    return this.#length
  }

  /** Of its versions; 0 where it has none but those that are moved. */
  get newestRevision(): number {
    return this.#newestRevision
  }

  get isEmpty(): boolean {
    return this.#records === 0
  }

  /** Begins a new one; the bytes of the last are written by now. */
  clear(): void {
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafeSlow(keptBytes)
    this.#length = blockHeaderBytes
    this.#records = 0
    this.#newestRevision = 0
  }

  /** Adds a record: of a version, or of a mark, which has no key. */
  add(kind: Kind, key: string, revision: number, value?: Buffer): void {
    this.#reserve(recordHeadBytes + key.length * 3 + (value?.length ?? 0))
    this.#length = writeRecord(this.#bytes, this.#length, kind, key, revision, value)
    if (kind === kinds.put || kind === kinds.delete) this.#newestRevision = Math.max(this.#newestRevision, revision)
    this.#records++
  }

  /** Adds a record that is whole already. */
  addWhole(record: Buffer): void {
    this.#reserve(record.length)
    this.#length += record.copy(this.#bytes, this.#length)
    this.#records++
  }

  /** The bytes, for this position of the file. */
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
