/**
 * Packs the objects of a large resource that do not change for long: each stores its difference from the pattern of its
 * family, which is the objects of similar size whose names have the same prefix. Pods of one ReplicaSet, and other
 * objects made from one template, shrink to a tenth.
 */
import type { StoredObject } from '../stored-object.ts'

/** Bytes of all objects of a resource: less is not worth the work. */
const minTotalBytes = 32 * 1024 * 1024
/**
 * The largest difference, as a fraction of the size. An object that differs more becomes the new pattern: the next ones
 * may resemble it.
 */
const maxFraction = 0.25
/**
 * Sizes within a family differ by less than this, in bytes: a pending pod is at most half as large as a running one.
 */
const sizeStep = 512
/** The maximum number of patterns. */
const maxFamilies = 1024

export class Packer {
  readonly #patterns = new Map<string, StoredObject>()

  /**
   * Packs an object that is likely not to change, if all objects of its resource together have enough bytes to be worth
   * it.
   */
  pack(object: StoredObject, allBytes: number): void {
    if (allBytes < minTotalBytes || object.isPacked) return
    const family = familyOf(object)
    const pattern = this.#patterns.get(family)
    if (pattern && object.pack(pattern, object.size * maxFraction)) return
    this.#patterns.delete(family)
    this.#patterns.set(family, object)
    if (this.#patterns.size > maxFamilies) this.#patterns.delete(this.#patterns.keys().next().value!)
  }
}

/** A controller appends random letters after the last dash of a name. */
function familyOf({ key, size }: StoredObject): string {
  const start = Math.max(key.lastIndexOf('/'), key.lastIndexOf('-'))
  return `${key.slice(0, start)} ${Math.floor(size / sizeStep)}`
}
