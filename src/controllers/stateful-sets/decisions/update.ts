/** Decides which pods of a StatefulSet are replaced next because they are not of its newest revision (KEP-961). */
import type { Pod, StatefulSet } from '../../../client/kinds.ts'
import { countOf } from '../../pods/percent.ts'
import { replicasOf, revisionNameOf, startOf } from '../identity.ts'
import { isDeleted, isHealthy, isRunningAndAvailable, type Members, type Situation } from './situation.ts'

/** The pods to delete: from the highest ordinal down to the partition. */
export function outdatedPods({ wanted }: Members, situation: Situation): Pod[] {
  const { set, obeysMaxUnavailable } = situation
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const lowest = startOf(set) + (rollingUpdate?.partition ?? 0)
  const pods = Array.from({ length: replicasOf(set) }, (_, index) => wanted.get(startOf(set) + index))
  const candidates = pods.slice(Math.max(0, lowest - startOf(set)))
  return obeysMaxUnavailable ? upToMaxUnavailable(pods, candidates, situation) : nextOne(candidates, situation)
}

/** The last outdated pod, unless one after it is unhealthy still. Those before it do not count. */
function nextOne(candidates: readonly (Pod | undefined)[], situation: Situation): Pod[] {
  for (const pod of candidates.toReversed()) {
    if (pod && revisionNameOf(pod) !== situation.update.name && !isDeleted(pod)) return [pod]
    if (!pod || !isHealthy(pod, situation)) return []
  }
  return []
}

/** As many as are allowed to be unavailable, with those that are so already. */
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
  // One that is of no use already costs nothing. (In order, all are available when it comes to updates.)
  return [...old.filter((pod) => !isRunningAndAvailable(pod, situation)), ...available]
}

/** At least one. */
export const maxUnavailable = (set: StatefulSet): number =>
  Math.max(1, countOf(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicasOf(set), 'down') ?? 1)
