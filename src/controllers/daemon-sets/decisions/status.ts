/** The status of a DaemonSet: on how many nodes its pods should be, are, are ready, and are of the newest revision. */
import type { DaemonSet } from '../../../client/kinds.ts'
import { isReady } from '../../pods/phase.ts'
import { isUpdated } from '../daemon-pod.ts'
import { bySeniority, type DaemonSituation, isPodAvailable, nameOf } from './situation.ts'

export type DaemonSetStatus = NonNullable<DaemonSet['status']>

/** A node counts once, by its most senior pod. Conditions are somebody else's, and stay. */
export function statusOf(situation: DaemonSituation, collisions: number | undefined): DaemonSetStatus {
  const { set, nodes, pods, placement, hash } = situation
  const wanted = nodes.filter((node) => placement(node).runs)
  const seniors = wanted.flatMap((node) => pods.get(nameOf(node))?.toSorted(bySeniority)[0] ?? [])
  const ready = seniors.filter(isReady)
  const available = ready.filter((pod) => isPodAvailable(pod, situation)).length
  const updated = seniors.filter((pod) => isUpdated(pod, set, hash)).length
  const unavailable = wanted.length - available
  return {
    ...(set.status?.conditions && { conditions: set.status.conditions }),
    ...(collisions !== undefined && { collisionCount: collisions }),
    observedGeneration: set.metadata.generation,
    currentNumberScheduled: seniors.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodes.filter((node) => !placement(node).runs && pods.has(nameOf(node))).length,
    numberReady: ready.length,
    ...(available && { numberAvailable: available }),
    ...(unavailable && { numberUnavailable: unavailable }),
    ...(updated && { updatedNumberScheduled: updated }),
  }
}
