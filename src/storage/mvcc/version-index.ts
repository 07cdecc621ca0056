/**
 * The versions of all keys: the newest of each key, older ones that reads of history need, and the order of all
 * changes. The type of a value (bytes, or a place in a file) is up to the driver.
 */
import { SortedKeys } from './sorted-keys.ts'

/** One version of one key. No value means that the key was deleted. */
export interface Version<V> {
  readonly key: string
  readonly revision: number
  readonly value: V | undefined
  /** The version that it replaced or deleted, unless that has been compacted. */
  previous: Version<V> | undefined
}

export class VersionIndex<V> {
  readonly #newest = new Map<string, Version<V>>()
  readonly #keys = new SortedKeys()
  /** All versions after the compacted revision, oldest first. Those before `#logStart` have been compacted. */
  #log: Version<V>[] = []
  #logStart = 0

  /** The number of keys that exist or whose deletion has not been compacted. */
  get size(): number {
    return this.#newest.size
  }

  /** The number of versions in the history. */
  get logged(): number {
    return this.#log.length - this.#logStart
  }

  /** Returns the key's newest version; undefined if the key never existed or its deletion was compacted. */
  newest(key: string): Version<V> | undefined {
    return this.#newest.get(key)
  }

  /** Returns the key's newest version up to `revision`. It may be a deletion. */
  at(key: string, revision: number): Version<V> | undefined {
    let version = this.#newest.get(key)
    while (version && version.revision > revision) version = version.previous
    return version
  }

  /** Adds a key's newest version. Revisions never decrease. */
  add(key: string, revision: number, value: V | undefined): Version<V> {
    const previous = this.#newest.get(key)
    // All versions of a key share one string.
    const version: Version<V> = { key: previous?.key ?? key, revision, value, previous }
    this.#newest.set(version.key, version)
    this.#log.push(version)
    if (!previous) this.#keys.add(key)
    return version
  }

  /** Returns the version of a key that was written at `revision`, unless it was compacted. */
  exactly(key: string, revision: number): Version<V> | undefined {
    const newest = this.#newest.get(key)
    if (!newest || newest.revision === revision) return newest
    // The log is faster to search than the chain of the key's versions.
    for (let i = this.#firstAfter(revision - 1); this.#log[i]?.revision === revision; i++)
      if (this.#log[i]!.key === key) return this.#log[i]
    const version = this.at(key, revision)
    return version?.revision === revision ? version : undefined
  }

  /**
   * Fills an empty index with versions ordered by revision; those after `compacted` are history. A version may occur
   * twice. `forget` is called with each version that is not needed.
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
   * Yields the versions of a range at `revision` without deletions, ordered by key. The index must not change
   * meanwhile.
   */
  *range(start: string, end: string, revision: number): Generator<Version<V>> {
    for (const key of this.#keys.between(start, end)) {
      const version = this.at(key, revision)
      if (version?.value !== undefined) yield version
    }
  }

  /** Returns the number of versions that `range` yields. */
  count(start: string, end: string, revision: number): number {
    let count = 0
    for (const _ of this.range(start, end, revision)) count++
    return count
  }

  /** Yields the versions after `revision`, oldest first. */
  *since(revision: number): Generator<Version<V>> {
    for (let i = this.#firstAfter(revision); i < this.#log.length; i++) yield this.#log[i]!
  }

  /**
   * Removes versions that only reads before `revision` need, and yields each of them. Other calls are allowed between
   * two calls of `next`.
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
      // A deletion that is a key's newest version hides nothing any more. An older one is removed with its successor.
      if (version.value === undefined && this.#newest.get(version.key) === version) {
        this.#newest.delete(version.key)
        this.#keys.delete(version.key)
        yield version
      }
    }
    // Copying the rest of the log pays off only if it is the smaller part.
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
