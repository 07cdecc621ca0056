/**
 * Shares equal parts between objects to save memory: objects of one owner are similar, and clusters have hundreds of
 * thousands of pods. A changed object also shares parts with its old version, so that the garbage collector need not
 * promote them again.
 */
import { own, setOwn } from '../../lib/own.ts'
import type { KubeObject } from '../../machinery/object.ts'

/** Owners whose last object is stored for comparison. */
const maxOwners = 256

export class StructuralSharing {
  /** The last object of each owner and phase. */
  readonly #last = new Map<string, KubeObject>()

  /**
   * Replaces parts of an object with equal parts of its old version, or of the last object of its owner. Modifies the
   * object, which must not be in use yet.
   */
  share(object: KubeObject, old?: KubeObject): void {
    if (old) shared(object, old)
    const key = similarityKey(object)
    const like = this.#last.get(key)
    if (like && like !== old) shared(object, like)
    this.#last.delete(key)
    this.#last.set(key, object)
    if (this.#last.size > maxOwners) this.#last.delete(this.#last.keys().next().value ?? '')
  }
}

function similarityKey(object: KubeObject): string {
  const { ownerReferences, namespace = '' } = object.metadata
  const status = 'status' in object ? object.status : undefined
  const phase = isObject(status) && typeof status.phase === 'string' ? status.phase : ''
  // Nodes own one lease each, and all leases are similar.
  const owner = ownerReferences?.find(({ controller }) => controller)
  return `${owner?.uid ?? namespace} ${phase}`
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Returns `like` if it equals `value`, else `value` with its equal parts replaced by those of `like`. */
function shared(value: unknown, like: unknown): unknown {
  // Equal strings are shared, too.
  if (value === like) return like
  if (!isObject(value) || !isObject(like) || Array.isArray(value) !== Array.isArray(like)) return value
  let isSame = true
  let count = 0
  for (const name in value) {
    const part = own(value, name)
    const known = own(like, name)
    const merged = shared(part, known)
    if (merged !== known || !Object.hasOwn(like, name)) isSame = false
    if (merged === known && (typeof merged === 'string' || isObject(merged))) setOwn(value, name, merged)
    count++
  }
  return isSame && count === Object.keys(like).length ? like : value
}
