/**
 * Node selectors: which nodes a pod, a volume or a device may be on. They are compiled once and asked for many nodes.
 * What is not valid in one (an operator that nobody knows, `Gt` without a number) matches no node.
 */
import { own } from '../../lib/own.ts'
import { type Labels, selectorOf } from './label-selector.ts'
import type { Operator } from './requirement.ts'

export interface NodeSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** All of it has to hold. One that asks for nothing holds for no node. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
  readonly matchFields?: readonly NodeSelectorRequirement[]
}

/** Of several terms one has to hold; of none, none does. */
export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[]
}

/** What a pod says about the nodes that it may be on. */
export interface RequiredNodes {
  readonly nodeSelector?: Labels
  readonly affinity?: {
    readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector }
  }
}

/** What is asked of a node. */
export interface SelectedNode {
  readonly metadata: { readonly name?: string; readonly labels?: Labels }
}

export type NodeMatcher = (node: SelectedNode) => boolean

/** The only field of nodes that terms may ask for. */
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

/**
 * A pod's `nodeSelector` and its required affinity to nodes, both of which have to hold. Undefined if it says nothing.
 */
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
