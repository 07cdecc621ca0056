/** Formats a label selector like Go's %v, as used in upstream's events. */
import type { PodDisruptionBudget } from '../../client/kinds.ts'

type LabelSelector = NonNullable<PodDisruptionBudget['spec']>['selector']

export function goSelectorString(selector: LabelSelector): string {
  if (!selector) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const matchLabels = labels.map(([key, value]) => `${key}: ${value},`).join('')
  return (
    `&LabelSelector{MatchLabels:map[string]string{${matchLabels}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
  )
}
