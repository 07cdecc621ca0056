/**
 * Creations and deletions that a controller has requested and not yet observed. While some are outstanding, its cache
 * is stale, and a reconcile would repeat them. Owners are identified by uid. Expectations expire in real time, as watch
 * events need it, however fast the clock of the cluster runs.
 */

import { controllerOf } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'

/** Time after which expectations expire, in ms. */
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

  /** `now` returns ms. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Expects `count` creations for an owner. Replaces its previous expectations. */
  expectCreations(owner: string, count: number): void {
    this.#expected.set(owner, { creations: count, deletions: new Set(), since: this.#now() })
  }

  /** Expects deletions of these uids for an owner. Replaces its previous expectations. */
  expectDeletions(owner: string, uids: Iterable<string>): void {
    this.#expected.set(owner, { creations: 0, deletions: new Set(uids), since: this.#now() })
  }

  /** `count` creations were observed, have failed, or will not be attempted. */
  creationObserved(owner: string, count = 1): void {
    const expected = this.#expected.get(owner)
    if (expected) expected.creations -= count
  }

  /** A deletion was observed or has failed. */
  deletionObserved(owner: string, uid: string): void {
    this.#expected.get(owner)?.deletions.delete(uid)
  }

  /**
   * Processes a change from a watch. A deletionTimestamp counts as a deletion, as graceful termination may take long.
   */
  observe(object: KubeObject | undefined, old: KubeObject | undefined): void {
    const isSame = object !== undefined && object.metadata.uid === old?.metadata.uid
    if (old && !isSame) this.#observeDeletion(old)
    if (!object) return
    const owner = controllerOf(object)?.uid
    if (!old || !isSame) if (owner) this.creationObserved(owner)
    if (object.metadata.deletionTimestamp) this.#observeDeletion(object)
  }

  /** Returns true if all expectations of an owner were observed or have expired. */
  satisfied(owner: string): boolean {
    const expected = this.#expected.get(owner)
    return (
      !expected ||
      (expected.creations <= 0 && expected.deletions.size === 0) ||
      this.#now() - expected.since > expectationsExpireMs
    )
  }

  /** The uids of objects whose deletion was requested and has neither failed nor been observed. */
  pendingDeletions(owner: string): ReadonlySet<string> {
    return (!this.satisfied(owner) && this.#expected.get(owner)?.deletions) || none
  }

  /** Drops the expectations of a deleted owner. */
  forget(owner: string): void {
    this.#expected.delete(owner)
  }

  #observeDeletion(object: KubeObject): void {
    const owner = controllerOf(object)?.uid
    if (owner) this.deletionObserved(owner, object.metadata.uid ?? '')
  }
}
