/**
 * Reclaims disk space. It always cleans the oldest segment: the records still needed are moved to the end of the log,
 * then the file is deleted. So a deletion never disappears before the values that it hides: older values are in older
 * segments, and when a value of a deleted key is moved, its deletion is written again behind it.
 */
import type { VersionIndex } from '../mvcc/version-index.ts'
import { kinds } from './layout.ts'
import type { Log, Place } from './log.ts'
import { type Location, RecordReader, type Segment } from './segments/segment.ts'
import { type IndexedRecord, recordsOf } from './segments/segment-index.ts'
import { Window } from './segments/window.ts'
import type { Batch } from './writing/batch.ts'
import type { GroupCommit } from './writing/group-commit.ts'

export interface CleaningLimits {
  /** Smaller logs are not cleaned. */
  readonly minBytes: number
  /** Bytes that one write moves. */
  readonly moveBytes: number
  /** Pause between two writes in ms, which gives other writes priority. */
  readonly pauseMs: number
}

/** Maximum time in ms that the search for needed records blocks the event loop. */
const sliceMs = 3
const recordsPerClockCheck = 64
/** Each start after a crash begins a segment. Above this many spare segments, segments are merged. */
const spareSegments = 8

interface Move {
  readonly key: string
  readonly revision: number
  /** Undefined for a deletion. */
  readonly location: Location | undefined
  readonly record: Buffer | undefined
}

export class Cleaner {
  readonly #log: Log
  readonly #commits: GroupCommit
  readonly #index: VersionIndex<Location>
  readonly #limits: CleaningLimits
  readonly #window = new Window()

  constructor(log: Log, commits: GroupCommit, index: VersionIndex<Location>, limits: CleaningLimits) {
    this.#log = log
    this.#commits = commits
    this.#index = index
    this.#limits = limits
  }

  /**
   * Cleans while more than half of the log is garbage, until `stopped` returns true. The compacted revision must not
   * change meanwhile. Rejects with StoreFailedError.
   */
  async run(compactedRevision: number, stopped: () => boolean): Promise<void> {
    while (!stopped() && this.#isWorthIt(compactedRevision))
      await this.#clean(this.#log.segments[0]!, compactedRevision, stopped)
  }

  #isWorthIt(compactedRevision: number): boolean {
    const { segments, bytes, fullSegments: usualSegments } = this.#log
    if (segments.length < 2) return false
    const needed = segments.reduce((sum, segment) => sum + segment.needed(compactedRevision), 0)
    return (bytes > this.#limits.minBytes && needed < bytes / 2) || segments.length > spareSegments + 2 * usualSegments
  }

  async #clean(segment: Segment, compactedRevision: number, stopped: () => boolean): Promise<void> {
    const moveOf = this.#movesOf(segment, compactedRevision)
    let reader = new RecordReader(this.#window)
    let moves: Move[] = []
    let bytes = 0
    let scanned = 0
    let until = performance.now() + sliceMs
    for (const record of recordsOf(segment, this.#log.store)) {
      const move = moveOf(record, reader)
      if (move) {
        moves.push(move)
        bytes += record.length
      }
      const isFull = bytes >= this.#limits.moveBytes
      if (!isFull && (++scanned % recordsPerClockCheck !== 0 || performance.now() < until)) continue
      if (isFull) {
        await this.#write(moves)
        moves = []
        bytes = 0
        await new Promise((resolve) => setTimeout(resolve, this.#limits.pauseMs))
      } else await new Promise(setImmediate)
      if (stopped()) return
      reader = new RecordReader(this.#window)
      until = performance.now() + sliceMs
    }
    if (moves.length > 0) await this.#write(moves)
    if (stopped()) return
    let dropping: Promise<void> | undefined
    await this.#commits.maintain({
      add: (batch) => batch.add(kinds.oldest, '', segment.number + 1),
      written: () => {
        dropping = this.#log.drop(segment)
      },
    })
    await dropping
  }

  /**
   * Returns a function that returns the move a record needs: a put that the version index refers to, or a deletion that
   * history needs.
   */
  #movesOf(
    segment: Segment,
    compactedRevision: number,
  ): (record: IndexedRecord, reader: RecordReader) => Move | undefined {
    /** The location of each key at the compacted revision, cached: one of thousands of versions is slow to find. */
    const bases = new Map<string, Location | undefined>()
    const baseOf = (key: string): Location | undefined => {
      if (!bases.has(key)) bases.set(key, this.#index.at(key, compactedRevision)?.value)
      return bases.get(key)
    }
    const locationOf = (key: string, revision: number): Location | undefined => {
      const newest = this.#index.newest(key)
      if (!newest || newest.revision === revision) return newest?.value
      return revision > compactedRevision ? this.#index.exactly(key, revision)?.value : baseOf(key)
    }
    return ({ kind, key, revision, offset }, reader) => {
      if (kind === kinds.delete && revision > compactedRevision)
        return { key, revision, location: undefined, record: undefined }
      const location = kind === kinds.put ? locationOf(key, revision) : undefined
      if (location?.segment !== segment || location.offset !== offset) return undefined
      return { key, revision, location, record: Buffer.from(reader.record(location, key, revision)) }
    }
  }

  #write(moves: readonly Move[]): Promise<void> {
    const starts: number[] = []
    const deletions = new Map<string, { readonly revision: number; readonly length: number }>()
    const addDeletion = (batch: Batch, key: string, revision: number) => {
      const start = batch.length
      batch.add(kinds.delete, key, revision)
      deletions.set(`${revision} ${key}`, { revision, length: batch.length - start })
    }
    return this.#commits.maintain({
      add: (batch) => {
        for (const { key, revision, record } of moves) {
          starts.push(batch.length)
          if (record) batch.addWhole(record)
          else addDeletion(batch, key, revision)
          const newest = record && this.#index.newest(key)
          if (newest && newest.value === undefined && !deletions.has(`${newest.revision} ${key}`))
            addDeletion(batch, key, newest.revision)
        }
      },
      written: ({ segment, position }: Place) => {
        for (const { revision, length } of deletions.values()) segment.countDeletion(revision, length)
        for (const [i, { location }] of moves.entries()) {
          if (!location) continue
          location.segment.live -= location.length
          location.segment = segment
          location.offset = position + starts[i]!
          segment.live += location.length
        }
      },
    })
  }
}
