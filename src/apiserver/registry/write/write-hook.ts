/** What a kind needs around its writes beyond preparation and validation, such as the cluster IPs of Services. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { Transaction } from '../../../storage/store.ts'

export interface WriteHook {
  /**
   * Called for every create and update of the object itself, after mutating admission and before preparation and
   * validation. May change the object, not the old one; throws to refuse. What it resolves with is called when the
   * write has ended.
   */
  begin(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): Promise<() => void>
  /** What is committed together with the object, or with its removal (undefined). */
  alongside(key: string, object: KubeObject | undefined): Promise<Transaction>
}
