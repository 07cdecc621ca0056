/**
 * How the pods of one template are replaced by those of another: bit by bit, or all at once after the old ones have
 * gone.
 */
import { keyOf } from '../../../client/informers/informer.ts'
import { pods, type ReplicaSet, replicaSets } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { labelSelectorOf, selectorText } from '../../../machinery/selectors/label-selector.ts'
import { byController } from '../../pods/owners/owner.ts'
import { hasEnded } from '../../pods/phase.ts'
import { unlessGone } from '../../refusals.ts'
import { createNewSet } from './new-set.ts'
import { isObserved } from './observed.ts'
import { revisionOf } from './revisions.ts'
import type { Rollout } from './rollout.ts'
import { isActiveSet, isRolling, newSetSize, oldSetSizes, replicasOf, type Sizes, scaledSizes } from './sizes/sizes.ts'
import { allOf, historyLimit, isComplete } from './status.ts'

/** How soon it is looked again for pods that the cache does not show. */
const unseenAgainMs = 1000

const nameOf = ({ metadata }: ReplicaSet): string => metadata.name ?? ''

/** Takes the next step of a rolling update: grows the new set, or shrinks old ones, as far as the limits allow. */
export async function rollOn(rollout: Rollout): Promise<void> {
  if (await growNewSet(rollout)) return
  const { deployment, newSet, oldSets } = rollout
  const sizes = newSet ? oldSetSizes(deployment, newSet, oldSets) : new Map<string, number>()
  if (sizes.size > 0) await rollout.scale(sizes)
  else if (isComplete(deployment, deployment.status)) await cleanUp(rollout)
}

/** Takes the next step of a replacement: stops the old pods, waits for their end, and then starts the new ones. */
export async function recreate(rollout: Rollout): Promise<void> {
  const { deployment, oldSets } = rollout
  const active = oldSets.filter(isActiveSet)
  if (active.length > 0) return await rollout.scale(new Map(active.map((set) => [nameOf(set), 0])))
  if (podsRun(rollout, oldSets) || (isToGrow(rollout) && (await podsRunUnseen(rollout, oldSets)))) return
  if (await growNewSet(rollout)) return
  if (isComplete(deployment, deployment.status)) await cleanUp(rollout)
}

/** Follows another size of the Deployment without going on with a rollout. */
export async function followSize(rollout: Rollout): Promise<void> {
  const { deployment, newSet, oldSets } = rollout
  const sizes = scaledSizes(deployment, newSet, oldSets)
  if (!isRolling(deployment) && (await othersRun(rollout, sizes))) return
  await rollout.scale(sizes)
}

/**
 * Whether pods of other sets run beside one that is to begin: a replacement that was paused between its steps still has
 * them.
 */
async function othersRun(rollout: Rollout, sizes: Sizes): Promise<boolean> {
  const isToBegin = (set: ReplicaSet): boolean => !isActiveSet(set) && (sizes.get(nameOf(set)) ?? 0) > 0
  const all = allOf(rollout)
  const others = all.filter((set) => !isToBegin(set))
  return others.length < all.length && (podsRun(rollout, others) || (await podsRunUnseen(rollout, others)))
}

/** Makes the new set, or scales it; resolves with whether it was scaled. */
async function growNewSet(rollout: Rollout): Promise<boolean> {
  if (!rollout.newSet) await createNewSet(rollout)
  const { deployment, newSet, oldSets } = rollout
  if (!newSet) return false
  const size = newSetSize(deployment, replicasOf(newSet), oldSets)
  if (size === replicasOf(newSet)) return false
  await rollout.scale(new Map([[nameOf(newSet), size]]))
  return true
}

const isToGrow = ({ deployment, newSet, oldSets }: Rollout): boolean =>
  oldSets.length > 0 && (!newSet || replicasOf(newSet) !== newSetSize(deployment, replicasOf(newSet), oldSets))

/** Whether pods of these sets run, as far as the cache tells: their end brings the Deployment here again. */
function podsRun({ context: { caches } }: Rollout, sets: readonly ReplicaSet[]): boolean {
  if (sets.some(({ status }) => (status?.replicas ?? 0) > 0)) return true
  return sets.some(({ metadata }) =>
    [...caches.by(pods, byController, metadata.uid ?? '')].some((pod) => !hasEnded(pod)),
  )
}

/**
 * Whether pods of these sets run that the cache does not show: made by an answer that nobody got, or by who has not
 * seen yet that there should be none. Nothing may run beside them, so the server is asked, and the Deployment looked at
 * again soon.
 */
async function podsRunUnseen(
  { deployment, context: { client, requeue } }: Rollout,
  sets: readonly ReplicaSet[],
): Promise<boolean> {
  const run = async (): Promise<boolean> => {
    const labelSelector = selectorText(labelSelectorOf(deployment.spec?.selector))
    const { items } = await client.list(pods, { namespace: deployment.metadata.namespace, labelSelector })
    const uids = new Set(sets.map(({ metadata }) => metadata.uid))
    return items.some((pod) => uids.has(controllerOf(pod)?.uid) && !hasEnded(pod))
  }
  const areThere = !sets.every(isObserved) || (await run())
  if (areThere) requeue(keyOf(deployment), unseenAgainMs)
  return areThere
}

/** Deletes the oldest ReplicaSets that nothing runs of and that are beyond the history that is kept. */
export async function cleanUp({ deployment, oldSets, context: { client } }: Rollout): Promise<void> {
  const limit = historyLimit(deployment)
  if (limit === undefined) return
  const alive = oldSets
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .sort((a, b) => revisionOf(a) - revisionOf(b))
  for (const set of alive.slice(0, Math.max(0, alive.length - limit))) {
    const { namespace = '', name = '', uid } = set.metadata
    if (set.status?.replicas || set.spec?.replicas !== 0 || !isObserved(set)) continue
    await client.delete(replicaSets, namespace, name, { uid }).catch(unlessGone)
  }
}
