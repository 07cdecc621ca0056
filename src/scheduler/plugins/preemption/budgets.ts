/** Splits victims by whether their disruption budgets allow the eviction. */
import type { PodDisruptionBudget } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { labelSelectorOf, type Selector } from '../../../machinery/selectors/label-selector.ts'
import type { PodInfo } from '../../framework/index.ts'

export interface Budget {
  readonly namespace: string
  readonly selector: Selector
  readonly allowed: number
  /** Pods whose eviction is already counted. */
  readonly disrupted: Readonly<Record<string, unknown>>
}

export const budgetOf = ({ metadata, spec, status }: PodDisruptionBudget): Budget => ({
  namespace: metadata.namespace ?? '',
  selector: labelSelectorOf(spec?.selector),
  allowed: status?.disruptionsAllowed ?? 0,
  disrupted: status?.disruptedPods ?? {},
})

/**
 * Splits pods into those whose eviction violates a budget and the others, in the given order, which uses up the
 * budgets.
 */
export function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly Budget[],
): { readonly violating: PodInfo[]; readonly harmless: PodInfo[] } {
  const remaining = budgets.map(({ allowed }) => allowed)
  const violating: PodInfo[] = []
  const harmless: PodInfo[] = []
  for (const pod of pods) {
    let isViolating = false
    for (const [at, budget] of budgets.entries()) {
      if (!covers(budget, pod)) continue
      remaining[at]!--
      if (remaining[at]! < 0) isViolating = true
    }
    ;(isViolating ? violating : harmless).push(pod)
  }
  return { violating, harmless }
}

/** A pod without labels matches no budget; a disrupted pod is already counted. */
function covers({ namespace, selector, disrupted }: Budget, pod: PodInfo): boolean {
  if (pod.namespace !== namespace || Object.keys(pod.labels).length === 0 || selector.requirements.length === 0)
    return false
  return selector.matches(pod.labels) && own(disrupted, pod.name) === undefined
}
