/**
 * The log: segments, of which the newest grows by one batch with each write. Acknowledged bytes are never overwritten:
 * after a failed write the log continues in a new segment, whose header contains the end of the previous one.
 */
import { ftruncate } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { StoreFailedError } from '../store.ts'
import { MarkFile } from './damage/commit-mark.ts'
import { fileHeaderBytes } from './layout.ts'
import type { Owner } from './owner.ts'
import { makeSegment, type Segment } from './segments/segment.ts'
import { sealSegment } from './segments/segment-index.ts'
import type { Batch } from './writing/batch.ts'
import type { Disk } from './writing/disk.ts'

/**
 * A store that has lost acknowledged changes skips this many revisions, as etcdutl's --bump-revision does, so that no
 * revision seen by a client is reused with another meaning.
 */
export const revisionBump = 1_000_000_000

/** The store's revisions, written to the header of a new segment. */
export interface Revisions {
  readonly revision: number
  readonly compactedRevision: number
}

export interface LogOptions {
  readonly directory: string
  readonly owner: Owner
  readonly disk: Disk
  /** Maximum size of a segment. */
  readonly segmentBytes: number
  /** A random number that all segments share. */
  readonly store: number
  /** Oldest first. */
  readonly segments: Segment[]
  /** True if the newest segment may grow. */
  readonly clean: boolean
}

/** Where a batch has been written. */
export interface Place {
  readonly segment: Segment
  readonly position: number
}

/** Time after which a process that opened the store only briefly has restored the owner file. */
const ownerRecheckMs = 100

export class Log {
  readonly directory: string
  readonly store: number
  readonly #owner: Owner
  readonly #disk: Disk
  readonly #segmentBytes: number
  readonly #segments: Segment[]
  readonly #mark: MarkFile
  #mayGrow: boolean
  #lost = false
  #closed = false
  #sealing = Promise.resolve()

  /** `revision` is the newest in the segments. */
  constructor({ directory, owner, disk, segmentBytes, store, segments, clean }: LogOptions, revision: number) {
    this.directory = directory
    this.store = store
    this.#owner = owner
    this.#disk = disk
    this.#segmentBytes = segmentBytes
    this.#segments = segments
    this.#mayGrow = clean
    this.#mark = new MarkFile(directory)
    this.#acknowledge(revision)
    for (const segment of segments.slice(0, -1)) if (!segment.sealed) this.#seal(segment)
  }

  /** Creates an empty log. */
  static async make(options: Omit<LogOptions, 'segments' | 'clean'>, revisions: Revisions): Promise<Log> {
    const { directory, disk, store } = options
    const first = await makeSegment(directory, { number: 1, oldest: 1, store, previousEnd: 0, ...revisions }, disk)
    return new Log({ ...options, segments: [first], clean: true }, revisions.revision)
  }

  /** Oldest first; the last one grows. */
  get segments(): readonly Segment[] {
    return this.#segments
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { end }) => sum + end, 0)
  }

  /** True if another process has taken over the store. */
  get lost(): boolean {
    return this.#lost
  }

  /** Number of full segments that the log's bytes would need. */
  get fullSegments(): number {
    return Math.ceil(this.bytes / this.#segmentBytes)
  }

  /**
   * Appends a batch; resolves when it is durable. Calls must not overlap. Rejects with the error of the disk, or with
   * StoreFailedError if another process has taken over the store.
   */
  async append(batch: Batch, revisions: Revisions): Promise<Place> {
    await this.#checkOwner()
    const { end } = this.#newest
    if (end > fileHeaderBytes && end + batch.length > this.#segmentBytes) this.#mayGrow = false
    if (!this.#mayGrow) await this.#begin(revisions, 0)
    const segment = this.#newest
    const position = segment.end
    try {
      await this.#disk.write(segment.fd, batch.finish(position, this.store), position)
    } catch (error) {
      this.#mayGrow = false
      // Frees the space taken on a full disk. Errors do not matter: the next header contains the end of this segment.
      await promisify(ftruncate)(segment.fd, position).catch(() => undefined)
      throw error
    }
    await this.#checkOwner()
    segment.end = position + batch.length
    this.#acknowledge(Math.max(revisions.revision, batch.newestRevision))
    return { segment, position }
  }

  /** Begins a new segment if a disk that failed has this many bytes free again; rejects otherwise. */
  async recover(revisions: Revisions, room: number): Promise<void> {
    await this.#checkOwner()
    if (!this.#mayGrow) await this.#begin(revisions, room)
  }

  /** Begins a new segment immediately, so that the end of the previous one is durable. */
  async begin(revisions: Revisions): Promise<void> {
    await this.#begin(revisions, 0)
    this.#acknowledge(revisions.revision)
  }

  /** Deletes the oldest segment. The log has a durable record of it since this turn, and later headers contain it. */
  async drop(segment: Segment): Promise<void> {
    if (this.#segments[0] !== segment) throw new Error(`${segment.path} is not the oldest segment`)
    this.#segments.shift()
    await this.#sealing
    segment.close()
    await rm(segment.path, { force: true })
  }

  /** Resolves when all full segments have their index. */
  sealed(): Promise<void> {
    return this.#sealing
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#sealing
    for (const segment of this.#segments) segment.close()
    await this.#mark.close()
    this.#owner.release()
  }

  #acknowledge(revision: number): void {
    const { number, end } = this.#newest
    this.#mark.write({ store: this.store, segment: number, end, revision })
  }

  get #newest(): Segment {
    return this.#segments.at(-1)!
  }

  async #checkOwner(): Promise<void> {
    if (!this.#lost && this.#owner.holds()) return
    if (!this.#lost) await new Promise((resolve) => setTimeout(resolve, ownerRecheckMs))
    this.#lost ||= !this.#owner.holds()
    if (this.#lost)
      throw new StoreFailedError(
        `the store in ${this.directory} has been taken over by another process; it refuses writes until it is ` +
          'opened again',
      )
  }

  async #begin(revisions: Revisions, room: number): Promise<void> {
    const last = this.#newest
    // A segment without acknowledged batches is replaced.
    const isEmpty = last.end === fileHeaderBytes
    const before = isEmpty ? this.#segments.at(-2) : last
    const number = isEmpty ? last.number : last.number + 1
    const header = {
      number,
      oldest: this.#segments[0]!.number,
      store: this.store,
      previousEnd: before?.end ?? 0,
      ...revisions,
    }
    const segment = await makeSegment(this.directory, header, this.#disk, room)
    if (isEmpty) this.#segments.pop()!.close()
    this.#segments.push(segment)
    this.#mayGrow = true
    if (!isEmpty) this.#seal(last)
  }

  /** Writes the index of a segment. A segment without one is read in full when the store is opened. */
  #seal(segment: Segment): void {
    this.#sealing = this.#sealing
      .then(() =>
        sealSegment(segment, this.store, this.#disk, () => this.#closed || this.#segments[0]!.number > segment.number),
      )
      .catch(() => undefined)
  }
}
