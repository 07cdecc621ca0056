/**
 * The current objects of a resource, by key and in key order. Stored in chunks: an insert among a hundred thousand
 * objects moves a few hundred, not all.
 */
import type { KeyRange } from '../../../storage/store.ts'
import type { StoredObject } from '../stored-object.ts'

/** The maximum number of cached slices. */
const maxSlices = 64
const maxChunkLength = 1024

export class SortedObjects {
  readonly #byKey = new Map<string, StoredObject>()
  /** No chunk is empty. */
  readonly #chunks: StoredObject[][] = []
  /** The last slice of each range, until something changes: repeated lists cost nothing. */
  readonly #slices = new Map<string, readonly StoredObject[]>()

  #bytes = 0

  /** The size of all objects together. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key)
  }

  set(object: StoredObject): void {
    this.#slices.clear()
    const { key } = object
    const before = this.#byKey.get(key)
    this.#bytes += object.size - (before?.size ?? 0)
    this.#byKey.set(key, object)
    const at = Math.max(0, this.#chunkOf(key))
    const chunk = this.#chunks[at]
    if (!chunk) {
      this.#chunks.push([object])
      return
    }
    const place = placeOf(chunk, key)
    if (before) chunk[place] = object
    // Names that count up are inserted in order: start a new chunk, so that full chunks stay behind instead of
    // half-full ones.
    else if (place === chunk.length && chunk.length >= maxChunkLength) this.#chunks.splice(at + 1, 0, [object])
    else {
      chunk.splice(place, 0, object)
      if (chunk.length > maxChunkLength) this.#chunks.splice(at + 1, 0, chunk.splice(maxChunkLength / 2))
    }
  }

  delete(key: string): void {
    const object = this.#byKey.get(key)
    if (!object) return
    this.#byKey.delete(key)
    this.#bytes -= object.size
    this.#slices.clear()
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]!
    chunk.splice(placeOf(chunk, key), 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** All objects of a range. The array is shared: do not modify it. */
  slice({ start, end }: KeyRange): readonly StoredObject[] {
    const known = this.#slices.get(start)
    if (known) return known
    const slice = this.#copy(start, end)
    if (this.#slices.size >= maxSlices) this.#slices.clear()
    this.#slices.set(start, slice)
    return slice
  }

  #copy(start: string, end: string): StoredObject[] {
    const parts: StoredObject[][] = []
    for (let at = Math.max(0, this.#chunkOf(start)); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!
      if (chunk[0]!.key >= end) break
      const isWhole = chunk[0]!.key >= start && chunk.at(-1)!.key < end
      parts.push(isWhole ? chunk : chunk.slice(placeOf(chunk, start), placeOf(chunk, end)))
    }
    // Ten times as fast as flat().
    return ([] as StoredObject[]).concat(...parts)
  }

  /** The index of the last chunk whose first key is not after `key`; -1 if there is none. */
  #chunkOf(key: string): number {
    const chunks = this.#chunks
    let low = 0
    let high = chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (chunks[middle]![0]!.key <= key) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** The index of the first object whose key is not before `key`. */
function placeOf(chunk: readonly StoredObject[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (chunk[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}
