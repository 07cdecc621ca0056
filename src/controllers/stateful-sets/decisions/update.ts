/** Selects the outdated pods of a StatefulSet to replace next (KEP-961). */
import type { Pod, StatefulSet } from '../../../client/kinds.ts'
import { countOf } from '../../pods/percent.ts'
import { replicasOf, revisionNameOf, startOf } from '../identity.ts'
import { isDeleted, isHealthy, isRunningAndAvailable, type Members, type Situation } from './situation.ts'

/** Returns the pods to delete, from the highest ordinal down to the partition. */
export function outdatedPods({ desired }: Members, situation: Situation): Pod[] {
  const { set, usesMaxUnavailable } = situation
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const lowest = startOf(set) + (rollingUpdate?.partition ?? 0)
  const pods = Array.from({ length: replicasOf(set) }, (_, index) => desired.get(startOf(set) + index))
  const candidates = pods.slice(Math.max(0, lowest - startOf(set)))
  return usesMaxUnavailable ? upToMaxUnavailable(pods, candidates, situation) : nextOne(candidates, situation)
}

/** Returns the last outdated pod, unless one after it is unhealthy. Pods before it are not checked. */
function nextOne(candidates: readonly (Pod | undefined)[], situation: Situation): Pod[] {
  for (const pod of candidates.toReversed()) {
    if (pod && revisionNameOf(pod) !== situation.update.name && !isDeleted(pod)) return [pod]
    if (!pod || !isHealthy(pod, situation)) return []
  }
  return []
}

/** Returns as many pods as may become unavailable, counting those that are. */
function upToMaxUnavailable(
  pods: readonly (Pod | undefined)[],
  candidates: readonly (Pod | undefined)[],
  situation: Situation,
): Pod[] {
  const { set, update } = situation
  const unavailable = pods.filter((pod) => !pod || !isHealthy(pod, situation)).length
  const old = candidates
    .filter((pod) => pod !== undefined)
    .filter((pod) => revisionNameOf(pod) !== update.name && !isDeleted(pod))
    .reverse()
  const available = old
    .filter((pod) => isRunningAndAvailable(pod, situation))
    .slice(0, Math.max(0, maxUnavailable(set) - unavailable))
  // Deleting an unavailable pod costs nothing. (In ordered mode all pods are available here.)
  return [...old.filter((pod) => !isRunningAndAvailable(pod, situation)), ...available]
}

/** The resolved maxUnavailable, at least 1. */
export const maxUnavailable = (set: StatefulSet): number =>
  Math.max(1, countOf(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicasOf(set), 'down') ?? 1)
