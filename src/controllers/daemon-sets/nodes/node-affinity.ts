/** Whether a pod's node selector and required node affinity choose a node. */
import type { Node, Pod } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { type Labels, selectorOf } from '../../../machinery/selectors/label-selector.ts'
import type { Operator } from '../../../machinery/selectors/requirement.ts'

type PodSpec = NonNullable<Pod['spec']>
type RequiredAffinity = NonNullable<NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>
type Term = RequiredAffinity['nodeSelectorTerms'][number]
type Requirements = NonNullable<Term['matchExpressions']>

const operators: Readonly<Record<string, Operator>> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!', Gt: '>', Lt: '<' }

export function choosesNode({ nodeSelector, affinity }: Pick<PodSpec, 'nodeSelector' | 'affinity'>, { metadata }: Node): boolean {
  const labels = metadata.labels ?? {}
  if (!Object.entries(nodeSelector ?? {}).every(([key, value]) => own(labels, key) === value)) return false
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  // Of several terms one has to hold; of none, none does.
  return !required || required.nodeSelectorTerms.some((term) => holds(term, labels, { 'metadata.name': metadata.name ?? '' }))
}

/** A term that asks for nothing holds for no node. */
function holds({ matchExpressions = [], matchFields = [] }: Term, labels: Labels, fields: Labels): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return match(matchExpressions, labels) && match(matchFields, fields)
}

function match(requirements: Requirements, labels: Labels): boolean {
  const known = requirements.flatMap(({ key, operator: name, values = [] }) => {
    const operator = own(operators, name)
    return operator ? [{ key, operator, values }] : []
  })
  return known.length === requirements.length && selectorOf(known).matches(labels)
}
