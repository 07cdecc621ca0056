/**
 * The log: its segments, of which the newest grows by one batch a write. What has been acknowledged is never written
 * over: after a failed write the log goes on in a new segment, whose header says where the one before it ends.
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
 * A store that goes on from less than it had acknowledged skips so many revisions, as etcdutl's --bump-revision does,
 * so that no revision that a client has seen comes again with another meaning.
 */
export const revisionBump = 1_000_000_000

/** What a new segment's header says of the store. */
export interface Revisions {
  readonly revision: number
  readonly compactedRevision: number
}

export interface LogOptions {
  readonly directory: string
  readonly owner: Owner
  readonly disk: Disk
  /** A segment that would grow larger than this is followed by a new one. */
  readonly segmentBytes: number
  /** A random number that all segments share. */
  readonly store: number
  /** Oldest first. */
  readonly segments: Segment[]
  /** Whether the newest segment may grow. */
  readonly clean: boolean
}

/** Where a batch has been written. */
export interface Place {
  readonly segment: Segment
  readonly position: number
}

/** Another process that has opened the store for a moment only has put the owner's file back by then. */
const secondLookMs = 100

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

  /** `revision` is the newest one in the segments. */
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

  /** Makes a log without records. */
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

  /** Whether another process has taken the store over. */
  get lost(): boolean {
    return this.#lost
  }

  /** Segments that would do for what there is. */
  get usualSegments(): number {
    return Math.ceil(this.bytes / this.#segmentBytes)
  }

  /**
   * Adds a batch; resolves when it is durable. One at a time. Rejects with what the disk says, or StoreFailedError if
   * the store is lost.
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
      // Gives back what was taken of a disk that is full. Whether it works does not matter: the next header says where
      // this one ends.
      await promisify(ftruncate)(segment.fd, position).catch(() => undefined)
      throw error
    }
    await this.#checkOwner()
    segment.end = position + batch.length
    this.#acknowledge(Math.max(revisions.revision, batch.newestRevision))
    return { segment, position }
  }

  /** Begins a new segment if a disk that failed has room for this many bytes again. Rejects if it has not. */
  async recover(revisions: Revisions, room: number): Promise<void> {
    await this.#checkOwner()
    if (!this.#mayGrow) await this.#begin(revisions, room)
  }

  /** Begins a new segment now, so that it says durably where the one before it ends. */
  async begin(revisions: Revisions): Promise<void> {
    await this.#begin(revisions, 0)
    this.#acknowledge(revisions.revision)
  }

  /** Drops the oldest segment. The log says so durably since this very turn: from now on, new segments say it too. */
  async drop(segment: Segment): Promise<void> {
    if (this.#segments[0] !== segment) throw new Error(`${segment.path} is not the oldest segment`)
    this.#segments.shift()
    await this.#sealing
    segment.close()
    await rm(segment.path, { force: true })
  }

  /** Resolves when all segments that are full have their index. */
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
    if (!this.#lost) await new Promise((resolve) => setTimeout(resolve, secondLookMs))
    this.#lost ||= !this.#owner.holds()
    if (this.#lost)
      throw new StoreFailedError(
        `the store in ${this.directory} has been taken over by another process; it refuses writes until it is ` +
          'opened again',
      )
  }

  async #begin(revisions: Revisions, room: number): Promise<void> {
    const last = this.#newest
    // One in which nothing was acknowledged is made again.
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

  /** A segment without an index is read as a whole when the store is opened. */
  #seal(segment: Segment): void {
    this.#sealing = this.#sealing
      .then(() =>
        sealSegment(segment, this.store, this.#disk, () => this.#closed || this.#segments[0]!.number > segment.number),
      )
      .catch(() => undefined)
  }
}
