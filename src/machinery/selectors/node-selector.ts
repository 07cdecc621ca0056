/**
 * Node selectors: the allowed nodes of a pod, a volume or a device. They are compiled once and matched with many nodes.
 * An invalid requirement (an unknown operator, `Gt` without a number) matches no node.
 */
import { own } from '../../lib/own.ts'
import { type Labels, selectorOf } from './label-selector.ts'
import type { Operator } from './requirement.ts'

export interface NodeSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Matches if all requirements match. An empty term matches no node. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
  readonly matchFields?: readonly NodeSelectorRequirement[]
}

/** Matches if at least one term matches. */
export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[]
}

/** The fields of a pod that restrict its nodes. */
export interface RequiredNodes {
  readonly nodeSelector?: Labels
  readonly affinity?: {
    readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector }
  }
}

/** The fields of a node that selectors use. */
export interface SelectedNode {
  readonly metadata: { readonly name?: string; readonly labels?: Labels }
}

export type NodeMatcher = (node: SelectedNode) => boolean

/** The only field of nodes that terms may match. */
export const nodeNameField = 'metadata.name'

export function nodeSelectorOf({ nodeSelectorTerms = [] }: NodeSelector): NodeMatcher {
  const terms = nodeSelectorTerms.map(nodeSelectorTermOf)
  const [only] = terms
  return terms.length === 1 && only ? only : (node) => terms.some((matches) => matches(node))
}

export function nodeSelectorTermOf({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeMatcher {
  if (matchExpressions.length + matchFields.length === 0) return () => false
  const labels = matcherOf(matchExpressions)
  if (matchFields.length === 0) return ({ metadata }) => labels(metadata.labels)
  const fields = matcherOf(matchFields)
  return ({ metadata }) => fields({ [nodeNameField]: metadata.name ?? '' }) && labels(metadata.labels)
}

/** Combines a pod's `nodeSelector` and its required node affinity. Returns undefined if it has neither. */
export function requiredNodes({ nodeSelector, affinity }: RequiredNodes): NodeMatcher | undefined {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const chosen = required && nodeSelectorOf(required)
  const labels = Object.entries(nodeSelector ?? {})
  if (labels.length === 0) return chosen
  const { matches } = selectorOf(labels.map(([key, value]) => ({ key, operator: '=', values: [value] })))
  return chosen ? (node) => matches(node.metadata.labels) && chosen(node) : (node) => matches(node.metadata.labels)
}

const operators: Readonly<Record<string, Operator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: '>',
  Lt: '<',
}
const integer = /^[+-]?\d+$/

function matcherOf(requirements: readonly NodeSelectorRequirement[]): (labels: Labels | undefined) => boolean {
  const known = requirements.flatMap(({ key, operator: name, values = [] }) => {
    const operator = own(operators, name)
    if (!operator || ((operator === '>' || operator === '<') && !integer.test(values[0] ?? ''))) return []
    return [{ key, operator, values }]
  })
  return known.length === requirements.length ? selectorOf(known).matches : () => false
}
