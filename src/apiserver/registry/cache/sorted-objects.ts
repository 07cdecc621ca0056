/** The current objects of a resource, by key and in the order of keys. */
import type { KeyRange } from '../../../storage/store.ts'
import type { StoredObject } from '../stored-object.ts'

/** Slices that are remembered. */
const mostSlices = 64

export class SortedObjects {
  readonly #byKey = new Map<string, StoredObject>()
  readonly #sorted: StoredObject[] = []
  /** The last slice of each range, until something changes: lists that are asked for again cost nothing. */
  readonly #slices = new Map<string, readonly StoredObject[]>()

  #bytes = 0

  /** Of all objects together. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#sorted.length
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key)
  }

  set(object: StoredObject): void {
    this.#slices.clear()
    const { key } = object
    const at = this.#search(key)
    const before = this.#byKey.get(key)
    this.#bytes += object.bytes.length - (before?.bytes.length ?? 0)
    if (before) this.#sorted[at] = object
    else if (at === this.#sorted.length) this.#sorted.push(object)
    else this.#sorted.splice(at, 0, object)
    this.#byKey.set(key, object)
  }

  delete(key: string): void {
    const object = this.#byKey.get(key)
    if (!object) return
    this.#byKey.delete(key)
    this.#bytes -= object.bytes.length
    this.#slices.clear()
    this.#sorted.splice(this.#search(key), 1)
  }

  /** All objects of a range. The array is shared: it must not be changed. */
  slice({ start, end }: KeyRange): readonly StoredObject[] {
    const known = this.#slices.get(start)
    if (known) return known
    const slice = this.#sorted.slice(this.#search(start), this.#search(end))
    if (this.#slices.size >= mostSlices) this.#slices.clear()
    this.#slices.set(start, slice)
    return slice
  }

  /** The index of the first key that is not before `key`. */
  #search(key: string): number {
    const sorted = this.#sorted
    let low = 0
    let high = sorted.length
    // Names that count up are written in order: look at the end first.
    if (high > 0 && sorted[high - 1]!.key < key) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sorted[middle]!.key < key) low = middle + 1
      else high = middle
    }
    return low
  }
}
