/** The strategies that replace the pods of a Deployment: RollingUpdate and Recreate. */
import { keyOf } from '../../../client/informers/informer.ts'
import { pods, type ReplicaSet, replicaSets } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { labelSelectorOf, selectorText } from '../../../machinery/selectors/label-selector.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { byController } from '../../pods/owners/owner.ts'
import { hasEnded } from '../../pods/phase.ts'
import { createNewSet } from './new-set.ts'
import { isObserved } from './observed.ts'
import { byRevision } from './revisions.ts'
import type { Rollout } from './rollout.ts'
import { isActiveSet, isRolling, newSetSize, oldSetSizes, replicasOf, type Sizes, scaledSizes } from './sizes/sizes.ts'
import { allOf, historyLimit, isComplete } from './status.ts'

/** Time until the next check for pods that the cache does not contain, in ms. */
const unseenRetryMs = 1000

const nameOf = ({ metadata }: ReplicaSet): string => metadata.name ?? ''

/** Performs one step of a rolling update: scales the new set up or old sets down, within the limits. */
export async function rollingUpdate(rollout: Rollout): Promise<void> {
  if (await growNewSet(rollout)) return
  const { deployment, newSet, oldSets } = rollout
  const sizes = newSet ? oldSetSizes(deployment, newSet, oldSets) : new Map<string, number>()
  if (sizes.size > 0) await rollout.scale(sizes)
  else if (isComplete(deployment, deployment.status)) await cleanUp(rollout)
}

/** Performs one step of a Recreate: deletes the old pods, waits for their end, then starts the new ones. */
export async function recreate(rollout: Rollout): Promise<void> {
  const { deployment, oldSets } = rollout
  const active = oldSets.filter(isActiveSet)
  if (active.length > 0) return await rollout.scale(new Map(active.map((set) => [nameOf(set), 0])))
  if (hasCachedPods(rollout, oldSets) || (needsGrowth(rollout) && (await hasUncachedPods(rollout, oldSets)))) return
  if (await growNewSet(rollout)) return
  if (isComplete(deployment, deployment.status)) await cleanUp(rollout)
}

/** Scales the ReplicaSets to the Deployment's size without continuing a rollout. */
export async function applySize(rollout: Rollout): Promise<void> {
  const { deployment, newSet, oldSets } = rollout
  const sizes = scaledSizes(deployment, newSet, oldSets)
  if (!isRolling(deployment) && (await doOtherPodsRun(rollout, sizes))) return
  await rollout.scale(sizes)
}

/** Returns true if pods of other sets run beside a set to start, as in a Recreate that was paused midway. */
async function doOtherPodsRun(rollout: Rollout, sizes: Sizes): Promise<boolean> {
  const isStarting = (set: ReplicaSet): boolean => !isActiveSet(set) && (sizes.get(nameOf(set)) ?? 0) > 0
  const all = allOf(rollout)
  const others = all.filter((set) => !isStarting(set))
  return others.length < all.length && (hasCachedPods(rollout, others) || (await hasUncachedPods(rollout, others)))
}

/** Creates the new set or scales it; resolves with true if it was scaled. */
async function growNewSet(rollout: Rollout): Promise<boolean> {
  if (!rollout.newSet) await createNewSet(rollout)
  const { deployment, newSet, oldSets } = rollout
  if (!newSet) return false
  const size = newSetSize(deployment, replicasOf(newSet), oldSets)
  if (size === replicasOf(newSet)) return false
  await rollout.scale(new Map([[nameOf(newSet), size]]))
  return true
}

const needsGrowth = ({ deployment, newSet, oldSets }: Rollout): boolean =>
  oldSets.length > 0 && (!newSet || replicasOf(newSet) !== newSetSize(deployment, replicasOf(newSet), oldSets))

/** Returns true if pods of these sets run according to the cache. Their end requeues the Deployment. */
function hasCachedPods({ context: { caches } }: Rollout, sets: readonly ReplicaSet[]): boolean {
  if (sets.some(({ status }) => (status?.replicas ?? 0) > 0)) return true
  return sets.some(({ metadata }) =>
    [...caches.by(pods, byController, metadata.uid ?? '')].some((pod) => !hasEnded(pod)),
  )
}

/**
 * Checks with the server for running pods of these sets that the cache does not contain, for example because a response
 * was lost or the ReplicaSet controller is behind. No other pods may run beside them, so the Deployment is requeued.
 */
async function hasUncachedPods(
  { deployment, context: { client, requeue } }: Rollout,
  sets: readonly ReplicaSet[],
): Promise<boolean> {
  const listsRunning = async (): Promise<boolean> => {
    const labelSelector = selectorText(labelSelectorOf(deployment.spec?.selector))
    const { items } = await client.list(pods, { namespace: deployment.metadata.namespace, labelSelector })
    const uids = new Set(sets.map(({ metadata }) => metadata.uid))
    return items.some((pod) => uids.has(controllerOf(pod)?.uid) && !hasEnded(pod))
  }
  const doRun = !sets.every(isObserved) || (await listsRunning())
  if (doRun) requeue(keyOf(deployment), unseenRetryMs, { isRealTime: true })
  return doRun
}

/** Deletes the oldest ReplicaSets without pods beyond the history limit. */
export async function cleanUp({ deployment, oldSets, context: { client } }: Rollout): Promise<void> {
  const limit = historyLimit(deployment)
  if (limit === undefined) return
  const alive = oldSets.filter(({ metadata }) => !metadata.deletionTimestamp).sort(byRevision)
  for (const set of alive.slice(0, Math.max(0, alive.length - limit))) {
    const { namespace = '', name = '', uid } = set.metadata
    if (set.status?.replicas || set.spec?.replicas !== 0 || !isObserved(set)) continue
    await client.delete(replicaSets, namespace, name, { uid }).catch(ignoreNotFound)
  }
}
