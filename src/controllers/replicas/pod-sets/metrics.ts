/** The ages of deleted pods: `replicaset_controller_sorting_deletion_age_ratio` (KEP-2185). */
import type { Pod } from '../../../client/kinds.ts'
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { isReady } from '../../pods/phase.ts'

/** Observes the pods to delete among the active ones. `now` is in ms. */
export type DeletionAges = (active: readonly Pod[], deleted: readonly Pod[], now: number) => void

export function deletionAges(registry = new MetricsRegistry()): DeletionAges {
  const ratios = registry.histogram(
    'replicaset_controller_sorting_deletion_age_ratio',
    "The ratio of chosen deleted pod's ages to the current youngest pod's age (at the time). Should be <2. The " +
      "intent of this metric is to measure the rough efficacy of the LogarithmicScaleDown feature gate's effect on " +
      'the sorting (and deletion) of pods when a replicaset scales down. This only considers Ready pods when ' +
      'calculating and reporting.',
    exponentialBuckets(0.25, 2, 6),
  )([])
  const ageOf = ({ metadata }: Pod, now: number): number => now - Date.parse(metadata.creationTimestamp ?? '')
  return (active, deleted, now) => {
    const youngest = active.reduce(
      (least, pod) => (isReady(pod) ? Math.min(least, ageOf(pod, now)) : least),
      Number.POSITIVE_INFINITY,
    )
    // Ages are in whole seconds: pods of the current second are not meaningful.
    if (youngest <= 0) return
    for (const pod of deleted) if (isReady(pod)) ratios.observe(Math.trunc(ageOf(pod, now) / youngest))
  }
}
