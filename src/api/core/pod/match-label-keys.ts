/**
 * Merges matchLabelKeys and mismatchLabelKeys of (anti-)affinity and topology spread into the selectors, with the new
 * pod's label values, so that later changes of its labels have no effect (KEP-3633, KEP-3243).
 */

import { own } from '../../../lib/own.ts'
import type { LabelSelector } from '../../../machinery/selectors/label-selector.ts'
import { isFeatureOn } from '../../features/current.ts'
import type { Pod } from './model.ts'

interface WithSelector {
  labelSelector?: LabelSelector
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}

/** Changes the pod. */
export function applyMatchLabelKeys({ metadata: { labels }, spec }: Pod): void {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  for (const affinity of [podAffinity, podAntiAffinity]) {
    for (const term of affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeLabelKeys(term, labels)
    for (const { podAffinityTerm } of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (podAffinityTerm) mergeLabelKeys(podAffinityTerm, labels)
  }
  if (!isFeatureOn('MatchLabelKeysInPodTopologySpreadSelectorMerge')) return
  for (const constraint of spec?.topologySpreadConstraints ?? []) mergeLabelKeys(constraint, labels)
}

/** Keys without a label of the pod are ignored. */
function mergeLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: WithSelector,
  labels: Readonly<Record<string, string>> | undefined,
): void {
  if (!labelSelector) return
  const added = [
    ...matchLabelKeys.map((key) => ({ key, operator: 'In' })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: 'NotIn' })),
  ].flatMap(({ key, operator }) => {
    const value = own(labels, key)
    return value === undefined ? [] : [{ key, operator, values: [value] }]
  })
  if (added.length > 0) labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added]
}
