/** Conditions of CustomResourceDefinitions. */
import type { V1CustomResourceDefinitionCondition } from '@kubernetes/client-node'
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import type { Wire } from '../../../machinery/object.ts'

export type Condition = Wire<V1CustomResourceDefinitionCondition>
export type ConditionType =
  | 'NamesAccepted'
  | 'Established'
  | 'Terminating'
  | 'NonStructuralSchema'
  | 'KubernetesAPIApprovalPolicyConformant'
/** A condition without its time. */
export type Verdict = Pick<Condition, 'reason' | 'message'> & {
  readonly type: ConditionType
  readonly status: 'True' | 'False'
}

export const conditionOf = ({ status }: Definition, type: ConditionType): Condition | undefined =>
  status?.conditions?.find((one) => one.type === type)

export const isTrue = (definition: Definition, type: ConditionType): boolean =>
  conditionOf(definition, type)?.status === 'True'

/** Returns the conditions with one of them set; its lastTransitionTime changes only with its status. */
export function withCondition(conditions: readonly Condition[], verdict: Verdict, now: string): Condition[] {
  const before = conditions.find(({ type }) => type === verdict.type)
  const lastTransitionTime =
    before?.status === verdict.status && before.lastTransitionTime ? before.lastTransitionTime : now
  const condition = { ...verdict, lastTransitionTime }
  return before ? conditions.map((one) => (one === before ? condition : one)) : [...conditions, condition]
}
