/**
 * The current objects of a resource, by key and in the order of keys. In chunks: one more of a hundred thousand moves a
 * few hundred, not all.
 */
import type { KeyRange } from '../../../storage/store.ts'
import type { StoredObject } from '../stored-object.ts'

/** Slices that are remembered. */
const mostSlices = 64
const mostInChunk = 1024

export class SortedObjects {
  readonly #byKey = new Map<string, StoredObject>()
  /** No chunk is empty. */
  readonly #chunks: StoredObject[][] = []
  /** The last slice of each range, until something changes: lists that are asked for again cost nothing. */
  readonly #slices = new Map<string, readonly StoredObject[]>()

  #bytes = 0

  /** Of all objects together. */
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
    // Names that count up are written in order: full chunks are left behind instead of half ones.
    else if (place === chunk.length && chunk.length >= mostInChunk) this.#chunks.splice(at + 1, 0, [object])
    else {
      chunk.splice(place, 0, object)
      if (chunk.length > mostInChunk) this.#chunks.splice(at + 1, 0, chunk.splice(mostInChunk / 2))
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

  /** All objects of a range. The array is shared: it must not be changed. */
  slice({ start, end }: KeyRange): readonly StoredObject[] {
    const known = this.#slices.get(start)
    if (known) return known
    const slice = this.#copy(start, end)
    if (this.#slices.size >= mostSlices) this.#slices.clear()
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

  /** The last chunk whose first key is not after `key`; -1 if there is none. */
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
