/** Creates and deletes a DaemonSet's pods. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { isNamespaceTerminating, isNotFound } from '../api-errors.ts'
import { attemptEach } from '../pods/writes/attempt-each.ts'
import type { Outstanding } from '../pods/writes/outstanding.ts'
import { createPod, deletePod } from '../pods/writes/pod-control.ts'
import { slowStart } from '../pods/writes/slow-start.ts'
import { daemonPod } from './daemon-pod.ts'
import type { PodChanges } from './decisions/manage.ts'
import type { DaemonSituation } from './decisions/situation.ts'

/** Maximum number of creations and of deletions in one reconcile. */
const burst = 250

/** Rejects with the first error after attempting all changes. */
export async function applyChanges(
  changes: PodChanges,
  { set, hash }: DaemonSituation,
  { creations, deletions }: Outstanding,
  context: Pick<ReconcileContext, 'client' | 'events'>,
): Promise<void> {
  const { uid: owner = '' } = set.metadata
  const create = changes.create.slice(0, burst)
  const remove = changes.remove.slice(0, burst)
  if (create.length) creations.expectCreations(owner, create.length)
  if (remove.length)
    deletions.expectDeletions(
      owner,
      remove.map(({ metadata }) => metadata.uid ?? ''),
    )
  let created = 0
  const { error } = await slowStart(create.length, async (at) => {
    try {
      await createPod(daemonPod(set, hash, create[at]!), set, context)
      created++
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error
    }
  })
  creations.creationObserved(owner, create.length - created)
  const removals = await attemptEach(remove, async (pod) => {
    try {
      await deletePod(pod, set, context)
    } catch (error) {
      deletions.deletionObserved(owner, pod.metadata.uid ?? '')
      if (!isNotFound(error)) throw error
    }
  })
  if (removals.error !== undefined) throw removals.error
  if (error !== undefined) throw error
}
