/** Sorted keys in chunks, so that an insert among a million keys moves a few hundred, not all. */
import { compareKeys, sortKeys } from '../key-order.ts'

const maxInChunk = 512

export class SortedKeys {
  /** No chunk is empty. */
  #chunks: string[][] = []

  /** Replaces all keys. The new keys must be distinct but need not be sorted. */
  fill(keys: string[]): void {
    sortKeys(keys)
    this.#chunks = []
    for (let i = 0; i < keys.length; i += maxInChunk / 2) this.#chunks.push(keys.slice(i, i + maxInChunk / 2))
  }

  /** Adds a missing key. */
  add(key: string): void {
    const at = Math.max(0, this.#chunkOf(key))
    const chunk = this.#chunks[at]
    if (!chunk) {
      this.#chunks.push([key])
      return
    }
    const place = placeOf(chunk, key)
    // Names that count up are added in order, so full chunks are not split in half.
    if (place === chunk.length && chunk.length >= maxInChunk) {
      this.#chunks.splice(at + 1, 0, [key])
      return
    }
    chunk.splice(place, 0, key)
    if (chunk.length > maxInChunk) this.#chunks.splice(at + 1, 0, chunk.splice(maxInChunk / 2))
  }

  delete(key: string): void {
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]
    const place = chunk ? placeOf(chunk, key) : -1
    if (chunk?.[place] !== key) return
    chunk.splice(place, 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /**
   * Yields the keys from `start` (included) to `end` (excluded), in order. Keys must not be added or deleted meanwhile.
   */
  *between(start: string, end: string): Generator<string> {
    for (let at = Math.max(0, this.#chunkOf(start)); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!
      for (let i = compareKeys(chunk[0]!, start) < 0 ? placeOf(chunk, start) : 0; i < chunk.length; i++) {
        if (compareKeys(chunk[i]!, end) >= 0) return
        yield chunk[i]!
      }
    }
  }

  /** Returns the index of the last chunk whose first key is not after `key`; -1 if there is none. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(this.#chunks[middle]![0]!, key) <= 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** Returns the index of the first key that is not before `key`. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(keys[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
