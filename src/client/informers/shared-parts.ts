/**
 * Objects of one owner are much alike: what they have in common is kept once, or pods by the hundred thousand would not
 * fit. An object that changes is much like what it was: what was known of it already need not be moved among what lives
 * long once more.
 */
import { own, setOwn } from '../../lib/own.ts'
import type { KubeObject } from '../../machinery/object.ts'

/** Owners whose last object is remembered. */
const mostOwners = 256

export class SharedParts {
  /** The last object of each owner and phase: those that are looked at together are alike. */
  readonly #last = new Map<string, KubeObject>()

  /**
   * Gives an object the parts of what it was before, and of the last one of its owner, that are equal to its own. It is
   * changed; nobody may have seen it yet.
   */
  share(object: KubeObject, before?: KubeObject): void {
    if (before) shared(object, before)
    const key = likeness(object)
    const like = this.#last.get(key)
    if (like && like !== before) shared(object, like)
    this.#last.delete(key)
    this.#last.set(key, object)
    if (this.#last.size > mostOwners) this.#last.delete(this.#last.keys().next().value ?? '')
  }
}

function likeness(object: KubeObject): string {
  const { ownerReferences, namespace = '' } = object.metadata
  const status = 'status' in object ? object.status : undefined
  const phase = isObject(status) && typeof status.phase === 'string' ? status.phase : ''
  // Nodes own their leases: one each, and all alike.
  const owner = ownerReferences?.find(({ controller }) => controller)
  return `${owner?.uid ?? namespace} ${phase}`
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** `like` where it is equal to `value`; otherwise `value`, whose parts have been shared. */
function shared(value: unknown, like: unknown): unknown {
  // Of two equal strings one is enough, too.
  if (value === like) return like
  if (!isObject(value) || !isObject(like) || Array.isArray(value) !== Array.isArray(like)) return value
  let isSame = true
  let count = 0
  for (const name in value) {
    const part = own(value, name)
    const known = own(like, name)
    const kept = shared(part, known)
    if (kept !== known || !Object.hasOwn(like, name)) isSame = false
    if (kept === known && (typeof kept === 'string' || isObject(kept))) setOwn(value, name, kept)
    count++
  }
  return isSame && count === Object.keys(like).length ? like : value
}
