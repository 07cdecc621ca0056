/** PodDisruptionBudgets of policy/v1beta1, where an empty selector selects no pods. */
import { isDeepStrictEqual } from 'node:util'
import type { OlderObject } from './index.ts'

interface Selector {
  matchLabels?: Record<string, string>
  matchExpressions?: { readonly key: string; readonly operator: string }[]
}

/** Upstream writes this label into selectors that have no equal in the other version; no pod has it. */
const label = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'

/** Replaces the selectors for no pods and for all pods. */
export function currentDisruptionBudget({ spec }: OlderObject): void {
  const budget = spec as { selector?: Selector } | undefined
  const selector = budget?.selector
  if (!budget || !selector) return
  const { matchLabels = {}, matchExpressions = [] } = selector
  const hasLabels = Object.keys(matchLabels).length > 0
  if (!hasLabels && matchExpressions.length === 0)
    budget.selector = { matchExpressions: [{ key: label, operator: 'Exists' }] }
  else if (!hasLabels && isDeepStrictEqual(matchExpressions, [{ key: label, operator: 'DoesNotExist' }]))
    budget.selector = {}
  else if (selector.matchExpressions) selector.matchExpressions = matchExpressions.filter(({ key }) => key !== label)
}
