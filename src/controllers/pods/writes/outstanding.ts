/** Expectations of controllers that create and delete in one reconcile. */
import type { KubeObject } from '../../../machinery/object.ts'
import { Expectations } from './expectations.ts'

export class Outstanding {
  readonly creations: Expectations
  readonly deletions: Expectations

  /** `now` returns ms. */
  constructor(now?: () => number) {
    this.creations = new Expectations(now)
    this.deletions = new Expectations(now)
  }

  /** Processes a change of an owned object. */
  observe(object: KubeObject | undefined, old: KubeObject | undefined): void {
    this.creations.observe(object, old)
    this.deletions.observe(object, old)
  }

  /** Processes a change of an owner: drops the expectations of one that was deleted or replaced. */
  observeOwner(owner: KubeObject | undefined, old: KubeObject | undefined): void {
    if (!old || owner?.metadata.uid === old.metadata.uid) return
    this.creations.forget(old.metadata.uid ?? '')
    this.deletions.forget(old.metadata.uid ?? '')
  }

  /** Returns true if all writes for an owner were observed; until then a reconcile would repeat them. */
  satisfied({ metadata: { uid = '' } }: KubeObject): boolean {
    return this.creations.satisfied(uid) && this.deletions.satisfied(uid)
  }
}
