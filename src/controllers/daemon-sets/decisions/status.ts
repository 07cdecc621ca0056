/** Computes the status of a DaemonSet: counts of nodes by the state of their pod. */
import type { DaemonSet } from '../../../client/kinds.ts'
import { isReady } from '../../pods/phase.ts'
import { isUpdated } from '../daemon-pod.ts'
import { bySeniority, type DaemonSituation, isPodAvailable, nameOf } from './situation.ts'

export type DaemonSetStatus = NonNullable<DaemonSet['status']>

/** A node counts once, by its most senior pod. Conditions are set by others and retained. */
export function statusOf(situation: DaemonSituation, collisions: number | undefined): DaemonSetStatus {
  const { set, nodes, pods, placement, hash } = situation
  const eligible = nodes.filter((node) => placement(node).runs)
  const seniors = eligible.flatMap((node) => pods.get(nameOf(node))?.toSorted(bySeniority)[0] ?? [])
  const ready = seniors.filter(isReady)
  const available = ready.filter((pod) => isPodAvailable(pod, situation)).length
  const updated = seniors.filter((pod) => isUpdated(pod, set, hash)).length
  const unavailable = eligible.length - available
  return {
    ...(set.status?.conditions && { conditions: set.status.conditions }),
    ...(collisions !== undefined && { collisionCount: collisions }),
    observedGeneration: set.metadata.generation,
    currentNumberScheduled: seniors.length,
    desiredNumberScheduled: eligible.length,
    numberMisscheduled: nodes.filter((node) => !placement(node).runs && pods.has(nameOf(node))).length,
    numberReady: ready.length,
    ...(available && { numberAvailable: available }),
    ...(unavailable && { numberUnavailable: unavailable }),
    ...(updated && { updatedNumberScheduled: updated }),
  }
}
