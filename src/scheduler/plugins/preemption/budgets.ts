/** Which of the pods that would go are protected by budgets that allow no more disruption. */
import type { PodDisruptionBudget } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { labelSelectorOf, type Selector } from '../../../machinery/selectors/label-selector.ts'
import type { PodInfo } from '../../framework/index.ts'

export interface Budget {
  readonly namespace: string
  readonly selector: Selector
  readonly allowed: number
  /** Pods that are going already. */
  readonly disrupted: Readonly<Record<string, unknown>>
}

export const budgetOf = ({ metadata, spec, status }: PodDisruptionBudget): Budget => ({
  namespace: metadata.namespace ?? '',
  selector: labelSelectorOf(spec?.selector),
  allowed: status?.disruptionsAllowed ?? 0,
  disrupted: status?.disruptedPods ?? {},
})

/** Those whose going would break a budget, and the others, in the order given: what goes first uses the budget up. */
export function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly Budget[],
): { readonly violating: PodInfo[]; readonly harmless: PodInfo[] } {
  const left = budgets.map(({ allowed }) => allowed)
  const violating: PodInfo[] = []
  const harmless: PodInfo[] = []
  for (const pod of pods) {
    let isViolating = false
    for (const [at, budget] of budgets.entries()) {
      if (!covers(budget, pod)) continue
      left[at]!--
      if (left[at]! < 0) isViolating = true
    }
    ;(isViolating ? violating : harmless).push(pod)
  }
  return { violating, harmless }
}

/** A pod without labels is in no budget; one that is going already counts no more. */
function covers({ namespace, selector, disrupted }: Budget, pod: PodInfo): boolean {
  if (pod.namespace !== namespace || Object.keys(pod.labels).length === 0 || selector.requirements.length === 0)
    return false
  return selector.matches(pod.labels) && own(disrupted, pod.name) === undefined
}
