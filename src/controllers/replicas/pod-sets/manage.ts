/** Creates missing pods of a set or deletes surplus ones. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import type { Pod } from '../../../client/kinds.ts'
import { isNamespaceTerminating, isNotFound } from '../../api-errors.ts'
import { podsToDelete } from '../../pods/deletion-order.ts'
import { attemptEach } from '../../pods/writes/attempt-each.ts'
import type { Expectations } from '../../pods/writes/expectations.ts'
import { createPod, deletePod } from '../../pods/writes/pod-control.ts'
import { podFromTemplate } from '../../pods/writes/pod-from-template.ts'
import { slowStart } from '../../pods/writes/slow-start.ts'
import type { PodSet } from './kind.ts'
import type { DeletionAges } from './metrics.ts'

/** Maximum number of pods created or deleted in one reconcile. */
const burst = 500

export interface ManageContext extends Pick<ReconcileContext, 'client' | 'events' | 'clock'> {
  readonly expectations: Expectations
  readonly ages: DeletionAges
  /** The pods of the same workload, for the deletion order. */
  related(): Iterable<Pod>
  /** True if the deletion cost annotation is ignored. */
  readonly ignoresCost?: boolean
}

/** Creates or deletes at most a burst of pods. `active` are the set's pods. Resolves with the first error, if any. */
export async function manage(set: PodSet, active: readonly Pod[], context: ManageContext): Promise<unknown> {
  const missing = (set.spec?.replicas ?? 1) - active.length
  if (missing > 0) return await create(set, Math.min(missing, burst), context)
  if (missing < 0) return await remove(set, active, Math.min(-missing, burst), context)
}

async function create(set: PodSet, count: number, context: ManageContext): Promise<unknown> {
  const { expectations } = context
  const { uid = '' } = set.metadata
  const pod = podFromTemplate(set.spec?.template ?? {}, set)
  expectations.expectCreations(uid, count)
  const { done, error } = await slowStart(count, () => createPod(pod, set, context))
  expectations.creationObserved(uid, count - done)
  return isNamespaceTerminating(error) ? undefined : error
}

async function remove(set: PodSet, active: readonly Pod[], count: number, context: ManageContext): Promise<unknown> {
  const { expectations, related, ages, ignoresCost, clock } = context
  const { uid = '' } = set.metadata
  const now = clock.now()
  const excess = podsToDelete(active, count, { related: related(), now, ignoresCost })
  ages(active, excess, now)
  expectations.expectDeletions(
    uid,
    excess.map(({ metadata }) => metadata.uid ?? ''),
  )
  const { error } = await attemptEach(excess, async (pod) => {
    try {
      await deletePod(pod, set, context)
    } catch (error) {
      expectations.deletionObserved(uid, pod.metadata.uid ?? '')
      if (!isNotFound(error)) throw error
    }
  })
  return error
}
