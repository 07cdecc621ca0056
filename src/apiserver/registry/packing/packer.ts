/**
 * Packs the objects of a large resource that rest: each keeps what sets it apart from the pattern of its family, those
 * whose names have the same start and that are about as large. Pods of one ReplicaSet, and what else controllers make
 * of one template, take a tenth so.
 */
import type { StoredObject } from '../stored-object.ts'

/** Of one resource, bytes: fewer are not worth the work. */
const worthBytes = 32 * 1024 * 1024
/** What is less alike than this is a pattern itself: the next ones may be like it. */
const mostPart = 0.25
/** Sizes differ by less than this within a family: a pod that waits has no more than half of what one that runs has. */
const sizeStep = 512
/** Families that are remembered. */
const mostFamilies = 1024

export class Packer {
  readonly #patterns = new Map<string, StoredObject>()

  /**
   * Packs an object that is likely to stay as it is, if all objects of its resource together have so many bytes that it
   * is worth it.
   */
  pack(object: StoredObject, allBytes: number): void {
    if (allBytes < worthBytes || object.isPacked) return
    const family = familyOf(object)
    const pattern = this.#patterns.get(family)
    if (pattern && object.pack(pattern, object.size * mostPart)) return
    this.#patterns.delete(family)
    this.#patterns.set(family, object)
    if (this.#patterns.size > mostFamilies) this.#patterns.delete(this.#patterns.keys().next().value!)
  }
}

/** A controller adds letters of its own behind the last dash. */
function familyOf({ key, size }: StoredObject): string {
  const start = Math.max(key.lastIndexOf('/'), key.lastIndexOf('-'))
  return `${key.slice(0, start)} ${Math.floor(size / sizeStep)}`
}
