/**
 * Which versions of which keys there are: the newest of each key, the ones that reads at older revisions need, and the
 * order in which they came. What a value is (bytes, or a place in a file) is the driver's affair.
 */
import { SortedKeys } from './sorted-keys.ts'

/** One version of one key. Without a value the key was deleted. */
export interface Version<V> {
  readonly key: string
  readonly revision: number
  readonly value: V | undefined
  /** What it replaced or deleted, while history reaches that far. */
  previous: Version<V> | undefined
}

export class VersionIndex<V> {
  readonly #newest = new Map<string, Version<V>>()
  readonly #keys = new SortedKeys()
  /** Everything after the compacted revision, oldest first; what is before `#logStart` has been compacted. */
  #log: Version<V>[] = []
  #logStart = 0

  /** Keys that are there, or were deleted a short while ago. */
  get size(): number {
    return this.#newest.size
  }

  /** Versions that history holds. */
  get logged(): number {
    return this.#log.length - this.#logStart
  }

  /** The key's newest version; undefined if it was never there, or deleted and forgotten. */
  newest(key: string): Version<V> | undefined {
    return this.#newest.get(key)
  }

  /** The key's newest version that is not newer than `revision`. It may be a deletion. */
  at(key: string, revision: number): Version<V> | undefined {
    let version = this.#newest.get(key)
    while (version && version.revision > revision) version = version.previous
    return version
  }

  /** Adds a key's newest version. Revisions never go back. */
  add(key: string, revision: number, value: V | undefined): Version<V> {
    const previous = this.#newest.get(key)
    // One string for all versions of a key.
    const version: Version<V> = { key: previous?.key ?? key, revision, value, previous }
    this.#newest.set(version.key, version)
    this.#log.push(version)
    if (!previous) this.#keys.add(key)
    return version
  }

  /** The version of a key that was written at `revision`, if it is still known. */
  exactly(key: string, revision: number): Version<V> | undefined {
    const newest = this.#newest.get(key)
    if (!newest || newest.revision === revision) return newest
    // What history holds is found faster by its revision than from the key's newest version on.
    for (let i = this.#firstAfter(revision - 1); this.#log[i]?.revision === revision; i++)
      if (this.#log[i]!.key === key) return this.#log[i]
    const version = this.at(key, revision)
    return version?.revision === revision ? version : undefined
  }

  /**
   * Fills an empty index with versions in the order of their revisions; those after `compacted` are history. The same
   * version may come twice. `forget` is told of those that nothing needs.
   */
  fill(
    versions: Iterable<{ readonly key: string; readonly revision: number; readonly value: V | undefined }>,
    compacted: number,
    forget: (version: Version<V>) => void = () => {},
  ): void {
    for (const { key, revision, value } of versions) {
      const previous = this.#newest.get(key)
      const isHistory = revision > compacted
      const version: Version<V> = {
        key: previous?.key ?? key,
        revision,
        value,
        previous: isHistory ? previous : undefined,
      }
      if (previous?.revision === revision) {
        forget(version)
        continue
      }
      if (isHistory) this.#log.push(version)
      else if (previous) forget(previous)
      if (isHistory || value !== undefined) this.#newest.set(version.key, version)
      else {
        this.#newest.delete(key)
        forget(version)
      }
    }
    this.#keys.fill([...this.#newest.keys()])
  }

  /**
   * The versions of a range at `revision`, deletions left out, in the order of keys. The index may not change
   * meanwhile.
   */
  *range(start: string, end: string, revision: number): Generator<Version<V>> {
    for (const key of this.#keys.between(start, end)) {
      const version = this.at(key, revision)
      if (version?.value !== undefined) yield version
    }
  }

  /** How many versions `range` yields. */
  count(start: string, end: string, revision: number): number {
    let count = 0
    for (const _ of this.range(start, end, revision)) count++
    return count
  }

  /** What came after `revision`, oldest first. */
  *since(revision: number): Generator<Version<V>> {
    for (let i = this.#firstAfter(revision); i < this.#log.length; i++) yield this.#log[i]!
  }

  /**
   * Forgets what only reads before `revision` need. Pauses after every so many versions: call `next` until it is done;
   * other calls are fine in between. Every version that is forgotten is yielded, once.
   */
  *compact(revision: number): Generator<Version<V>> {
    const end = this.#firstAfter(revision)
    while (this.#logStart < end) {
      const version = this.#log[this.#logStart++]!
      if (version.previous) {
        const { previous } = version
        version.previous = undefined
        yield previous
      }
      // A deletion that is a key's newest version hides nothing any more. One that is not goes with its successor.
      if (version.value === undefined && this.#newest.get(version.key) === version) {
        this.#newest.delete(version.key)
        this.#keys.delete(version.key)
        yield version
      }
    }
    // Copying the rest of the log is worth it only when that is the smaller part.
    if (this.#logStart < this.#log.length / 2) return
    this.#log = this.#log.slice(this.#logStart)
    this.#logStart = 0
  }

  #firstAfter(revision: number): number {
    let low = this.#logStart
    let high = this.#log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#log[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
