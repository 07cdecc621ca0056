/** Finds the pods of an autoscaler's target by the selector of its scale. */
import type { Caches } from '../../client/controller/controller.ts'
import type { HorizontalPodAutoscaler, Pod } from '../../client/kinds.ts'
import { parseLabelSelector, type Selector } from '../../machinery/selectors/label-selector.ts'
import { messageOf } from '../api-errors.ts'
import { selectedPods } from '../pods/owners/selected-pods.ts'
import type { Selectors } from './selectors.ts'

/** A selector that does not allow scaling by metrics. */
export interface SelectorProblem {
  /** The reason of the condition. */
  readonly reason: 'InvalidSelector' | 'AmbiguousSelector'
  readonly event: { readonly reason: string; readonly message: string }
  /** The message of the condition. Default: that of the event. */
  readonly message?: string
}

type TargetPods =
  | { readonly pods: readonly Pod[]; readonly problem?: undefined }
  | { readonly problem: SelectorProblem }

/** Returns the pods that `selector` matches, unless other autoscalers of `selectors` match them too. */
export function targetPods(
  { metadata: { namespace = '', name } }: HorizontalPodAutoscaler,
  selector: string,
  selectors: Selectors,
  caches: Caches,
): TargetPods {
  if (selector === '') return { problem: missingSelector }
  const parsed = parseSelector(selector)
  if (typeof parsed === 'string')
    return { problem: { reason: 'InvalidSelector', event: { reason: 'InvalidSelector', message: parsed } } }
  const pods = [...selectedPods(caches, namespace, parsed)]
  const autoscalers = selectors.autoscalersOf(`${namespace}/${name}`, parsed, pods)
  if (autoscalers.length > 1) {
    const message = `pods by selector ${selector} are controlled by multiple HPAs: [${autoscalers.join(' ')}]`
    return { problem: { reason: 'AmbiguousSelector', event: { reason: 'AmbiguousSelector', message } } }
  }
  return { pods }
}

const missingSelector: SelectorProblem = {
  reason: 'InvalidSelector',
  event: { reason: 'SelectorRequired', message: 'selector is required' },
  message: "the HPA target's scale is missing a selector",
}

/** Returns the message of the error if the selector cannot be parsed. */
function parseSelector(text: string): Selector | string {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    return `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`
  }
}
