/** Expectations of those who create and delete in one go. */
import type { KubeObject } from '../../../machinery/object.ts'
import { Expectations } from './expectations.ts'

export class Outstanding {
  readonly creations: Expectations
  readonly deletions: Expectations

  /** `now`: milliseconds. */
  constructor(now?: () => number) {
    this.creations = new Expectations(now)
    this.deletions = new Expectations(now)
  }

  /** Takes note of a change of an owned object. */
  observe(object: KubeObject | undefined, before: KubeObject | undefined): void {
    this.creations.observe(object, before)
    this.deletions.observe(object, before)
  }

  /** Takes note of a change of an owner: of one that has gone, or was replaced, nothing is expected any more. */
  observeOwner(owner: KubeObject | undefined, before: KubeObject | undefined): void {
    if (!before || owner?.metadata.uid === before.metadata.uid) return
    this.creations.forget(before.metadata.uid ?? '')
    this.deletions.forget(before.metadata.uid ?? '')
  }

  /** Whether all that was done for an owner is seen: until then, what would be decided is decided already. */
  satisfied({ metadata: { uid = '' } }: KubeObject): boolean {
    return this.creations.satisfied(uid) && this.deletions.satisfied(uid)
  }
}
