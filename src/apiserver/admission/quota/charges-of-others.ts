/**
 * Charges by other servers of the store, whose objects may not be stored yet: a recount must not undo them. They are
 * known from the usage in the status, which such a server raises before it stores the object.
 */
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import { onlyNamed, positiveDifference, smaller, sum } from '../../../api/core/quota/resource-lists.ts'
import type { Quota } from './quota.ts'

interface Raise {
  readonly revision: number
  readonly amounts: ResourceList
  readonly until: number
}

export class ChargesOfOthers {
  readonly #lifetimeMs: number
  /** By the uid of the quota. */
  readonly #raises = new Map<string, Raise[]>()

  /** `lifetimeMs`: after this time, the object of a charge is stored, or its write has failed. */
  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs
  }

  /** A quota has changed. Without an old state, its whole usage may have been charged just now. */
  changed(quota: Quota | undefined, old: Quota | undefined, nowMs: number): void {
    if (!quota || (old && old.uid !== quota.uid)) this.#raises.delete(old?.uid ?? '')
    if (!quota) return
    const amounts = positiveDifference(quota.used, old?.uid === quota.uid ? old.used : {})
    if (Object.keys(amounts).length === 0) return
    const raises = this.#current(quota.uid, nowMs)
    this.#raises.set(quota.uid, [...raises, { revision: quota.revision, amounts, until: nowMs + this.#lifetimeMs }])
  }

  /** This server has written the usage. */
  isOwn({ uid, revision }: Quota): void {
    const others = this.#raises.get(uid)?.filter((raise) => raise.revision !== revision)
    if (others) this.#raises.set(uid, others)
  }

  /**
   * Returns the usage to write for a counted one: not less than what is stored, as long as the difference may be
   * charges of others.
   */
  retained(quota: Quota, counted: ResourceList, nowMs: number): ResourceList {
    const charged = this.#current(quota.uid, nowMs).reduce<ResourceList>(
      (total, { amounts }) => sum(total, amounts),
      {},
    )
    const missing = positiveDifference(onlyNamed(quota.used, Object.keys(counted)), counted)
    return sum(counted, smaller(missing, charged))
  }

  #current(uid: string, nowMs: number): Raise[] {
    const raises = this.#raises.get(uid)?.filter(({ until }) => until > nowMs) ?? []
    if (raises.length > 0) this.#raises.set(uid, raises)
    else this.#raises.delete(uid)
    return raises
  }
}
