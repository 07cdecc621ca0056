/** Computes the status of a StatefulSet. */
import type { StatefulSet } from '../../../client/kinds.ts'
import { replicasOf, revisionNameOf } from '../identity.ts'
import { isDeleted, isRunningAndAvailable, isRunningAndReady, type Situation } from './situation.ts'

export type StatefulSetStatus = NonNullable<StatefulSet['status']>

/** `outdated`: number of pods just deleted for the update. Conditions are set by others and retained. */
export function statusOf(situation: Situation, collisions: number, outdated: number): StatefulSetStatus {
  const { set, pods, current, update } = situation
  const ready = pods.filter(isRunningAndReady)
  const revisions = pods.filter((pod) => !isDeleted(pod)).map(revisionNameOf)
  const counts = {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isRunningAndAvailable(pod, situation)).length,
    updatedReplicas: revisions.filter((name) => name === update.name).length,
  }
  const currentReplicas = Math.max(0, revisions.filter((name) => name === current.name).length - outdated)
  const isComplete =
    set.spec?.updateStrategy?.type !== 'OnDelete' &&
    [counts.updatedReplicas, counts.readyReplicas, counts.replicas].every((count) => count === replicasOf(set))
  return {
    ...(set.status?.conditions && { conditions: set.status.conditions }),
    observedGeneration: set.metadata.generation,
    ...counts,
    currentReplicas: isComplete ? counts.updatedReplicas : currentReplicas,
    currentRevision: isComplete ? update.name : current.name,
    updateRevision: update.name,
    collisionCount: collisions,
  }
}

/** Omits the counts that are 0, as in the stored form. */
export const withoutZeros = ({
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
