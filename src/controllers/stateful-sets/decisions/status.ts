/** The status of a StatefulSet: how many pods there are, how far they are, and of which revision. */
import type { StatefulSet } from '../../../client/kinds.ts'
import { replicasOf, revisionNameOf } from '../identity.ts'
import { isDeleted, isRunningAndAvailable, isRunningAndReady, type Situation } from './situation.ts'

export type StatefulSetStatus = NonNullable<StatefulSet['status']>

/** `outdated`: how many pods were just deleted for the update. Conditions are somebody else's, and stay. */
export function statusOf(situation: Situation, collisions: number, outdated: number): StatefulSetStatus {
  const { set, pods, current, update } = situation
  const ready = pods.filter(isRunningAndReady)
  const kept = pods.filter((pod) => !isDeleted(pod)).map(revisionNameOf)
  const counts = {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isRunningAndAvailable(pod, situation)).length,
    updatedReplicas: kept.filter((name) => name === update.name).length,
  }
  const currentReplicas = Math.max(0, kept.filter((name) => name === current.name).length - outdated)
  const isThrough =
    set.spec?.updateStrategy?.type !== 'OnDelete' &&
    [counts.updatedReplicas, counts.readyReplicas, counts.replicas].every((count) => count === replicasOf(set))
  return {
    ...(set.status?.conditions && { conditions: set.status.conditions }),
    observedGeneration: set.metadata.generation,
    ...counts,
    currentReplicas: isThrough ? counts.updatedReplicas : currentReplicas,
    currentRevision: isThrough ? update.name : current.name,
    updateRevision: update.name,
    collisionCount: collisions,
  }
}

/** A status without the counts that are nought, as it is stored. */
export const withoutNoughts = ({
  readyReplicas,
  currentReplicas,
  updatedReplicas,
  ...status
}: StatefulSetStatus): StatefulSetStatus => ({
  ...status,
  ...(readyReplicas && { readyReplicas }),
  ...(currentReplicas && { currentReplicas }),
  ...(updatedReplicas && { updatedReplicas }),
})
