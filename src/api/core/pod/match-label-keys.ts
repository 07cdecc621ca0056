/**
 * Labels that (anti-)affinity and topology spread name by key alone: a new pod's own values of them are written into
 * the selectors, so that they stay what they were when its labels change (KEP-3633, KEP-3243).
 */

import { own } from '../../../lib/own.ts'
import type { LabelSelector } from '../../../machinery/selectors/label-selector.ts'
import { isFeatureOn } from '../../features/current.ts'
import type { Pod } from './model.ts'

interface Selecting {
  labelSelector?: LabelSelector
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}

/** The pod is changed. */
export function applyMatchLabelKeys({ metadata: { labels }, spec }: Pod): void {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  for (const affinity of [podAffinity, podAntiAffinity]) {
    for (const term of affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) apply(term, labels)
    for (const { podAffinityTerm } of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (podAffinityTerm) apply(podAffinityTerm, labels)
  }
  if (!isFeatureOn('MatchLabelKeysInPodTopologySpreadSelectorMerge')) return
  for (const constraint of spec?.topologySpreadConstraints ?? []) apply(constraint, labels)
}

/** Keys that the pod has no label of say nothing. */
function apply(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Selecting,
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
