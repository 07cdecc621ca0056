/**
 * What a controller has asked for and not seen yet: as long as something is outstanding, its cache is behind what it
 * did, and deciding by it would do the same once more. Owners are named by their uids. What is never seen is forgotten
 * after a while.
 */

import { controllerOf } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'

/** How long creations and deletions may take to be seen. */
export const expectationsExpireMs = 5 * 60_000

const none: ReadonlySet<string> = new Set()

interface Expected {
  creations: number
  readonly deletions: Set<string>
  readonly since: number
}

export class Expectations {
  readonly #expected = new Map<string, Expected>()
  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** So many objects of an owner are about to be created. Replaces what was expected before. */
  expectCreations(owner: string, count: number): void {
    this.#expected.set(owner, { creations: count, deletions: new Set(), since: this.#now() })
  }

  /** These objects of an owner, by their uids, are about to be deleted. Replaces what was expected before. */
  expectDeletions(owner: string, uids: Iterable<string>): void {
    this.#expected.set(owner, { creations: 0, deletions: new Set(uids), since: this.#now() })
  }

  /** So many creations are seen, have failed, or will not be tried. */
  created(owner: string, count = 1): void {
    const expected = this.#expected.get(owner)
    if (expected) expected.creations -= count
  }

  /** A deletion is seen, or has failed. */
  deleted(owner: string, uid: string): void {
    this.#expected.get(owner)?.deletions.delete(uid)
  }

  /**
   * Takes note of a change as a watch tells it. Being marked as deleted counts as deletion: what is still there may
   * take its time.
   */
  observe(object: KubeObject | undefined, before: KubeObject | undefined): void {
    const isSame = object !== undefined && object.metadata.uid === before?.metadata.uid
    if (before && !isSame) this.#observeDeletion(before)
    if (!object) return
    const owner = controllerOf(object)?.uid
    if (!before || !isSame) if (owner) this.created(owner)
    if (object.metadata.deletionTimestamp) this.#observeDeletion(object)
  }

  /** Whether all that was asked for is seen, or waited for long enough. */
  satisfied(owner: string): boolean {
    const expected = this.#expected.get(owner)
    return (
      !expected ||
      (expected.creations <= 0 && expected.deletions.size === 0) ||
      this.#now() - expected.since > expectationsExpireMs
    )
  }

  /** The uids of those objects whose deletion has been asked for, and has neither failed nor been seen. */
  going(owner: string): ReadonlySet<string> {
    return (!this.satisfied(owner) && this.#expected.get(owner)?.deletions) || none
  }

  /** The owner has gone. */
  forget(owner: string): void {
    this.#expected.delete(owner)
  }

  #observeDeletion(object: KubeObject): void {
    const owner = controllerOf(object)?.uid
    if (owner) this.deleted(owner, object.metadata.uid ?? '')
  }
}
