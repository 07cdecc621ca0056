/** Extra work around the writes of a kind beyond preparation and validation, such as the cluster IPs of Services. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { CommitResult, Transaction } from '../../../storage/store.ts'

export interface WriteHook {
  /**
   * Called for every create and update of the object itself, after mutating admission and before preparation and
   * validation. May change the object, not the old one; throws to reject. The function that it resolves with is called
   * when the write has ended.
   */
  begin(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): Promise<() => void>
  /**
   * Commits the transaction that writes the object, or removes it (undefined), together with other operations. The
   * first entries of a failed result are those of the conditions of `own`.
   */
  commit(key: string, object: KubeObject | undefined, own: Transaction): Promise<CommitResult>
  /**
   * Called when a condition of `commit` failed that was not in `own`, because another server was faster. Resolves when
   * the next attempt sees its write.
   */
  refused?(): Promise<void>
}
