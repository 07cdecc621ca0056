/**
 * Topology spread constraints of a pod, made ready: its own, or the scheduler's defaults for pods of one service or
 * controller.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Pod } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import {
  type Labels,
  labelSelectorOf,
  type Selector,
  selectorOf,
  selectorText,
} from '../../../machinery/selectors/label-selector.ts'
import { type NodeMatcher, requiredNodes } from '../../../machinery/selectors/node-selector.ts'
import { isTolerated, preventsScheduling } from '../../../machinery/selectors/toleration.ts'
import type { NodeInfo, PodInfo } from '../../framework/index.ts'
import type { Share } from '../topology/counts.ts'

export type WireConstraint = NonNullable<NonNullable<Pod['spec']>['topologySpreadConstraints']>[number]
export type WhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway'

export interface Constraint {
  readonly maxSkew: number
  readonly topologyKey: string
  readonly selector: Selector
  readonly minDomains: number
  /** Nodes that the pod cannot be on for its selector, or for their taints, do not count. */
  readonly honorsAffinity: boolean
  readonly honorsTaints: boolean
}

/** Those of a list that speak of this case. `labels` are the pod's. */
export const constraintsOf = (list: readonly WireConstraint[], labels: Labels, when: WhenUnsatisfiable): Constraint[] =>
  list
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when)
    .map(
      ({ maxSkew, topologyKey, labelSelector, minDomains, nodeAffinityPolicy, nodeTaintsPolicy, matchLabelKeys }) => ({
        maxSkew,
        topologyKey,
        selector: withKeys(labelSelectorOf(labelSelector), matchLabelKeys ?? [], labels),
        minDomains: minDomains ?? 1,
        honorsAffinity: nodeAffinityPolicy !== 'Ignore',
        honorsTaints: nodeTaintsPolicy === 'Honor',
      }),
    )

/**
 * A selector that asks for the pod's own values of some labels, too. The API server may have written them into it
 * already.
 */
function withKeys(selector: Selector, keys: readonly string[], labels: Labels): Selector {
  const added = keys.flatMap((key) => {
    const value = own(labels, key)
    return value === undefined ? [] : [{ key, operator: '=' as const, values: [value] }]
  })
  const isThere = (one: (typeof added)[number]): boolean =>
    selector.requirements.some((other) => isDeepStrictEqual(one, other))
  // One that matches nothing stays so only without keys: upstream's way.
  return added.length === 0 ? selector : selectorOf([...added.filter((one) => !isThere(one)), ...selector.requirements])
}

export const hasAllKeys = (constraints: readonly Constraint[], { labels }: NodeInfo): boolean =>
  constraints.every(({ topologyKey }) => own(labels, topologyKey) !== undefined)

/** Whether a node counts for a constraint of the pod. */
export function counts(
  { honorsAffinity, honorsTaints }: Constraint,
  { pod }: PodInfo,
  node: NodeInfo,
  required: NodeMatcher | undefined,
): boolean {
  if (honorsAffinity && required && !required(node.node)) return false
  return (
    !honorsTaints ||
    node.taints.every((taint) => !preventsScheduling(taint) || isTolerated(taint, pod.spec?.tolerations))
  )
}

/**
 * How many pods of a node a constraint is about. Those that are on their way out do not count, and none does for a
 * selector that asks for nothing.
 */
function matchingPods({ selector }: Constraint, namespace: string, { pods }: NodeInfo): number {
  let count = 0
  if (selector.everything) return count
  for (const pod of pods) if (isMeant(selector, namespace, pod)) count++
  return count
}

/** What was counted on a node, by namespace and selector. */
const counted = new WeakMap<NodeInfo, { readonly generation: number; readonly counts: Map<string, number> }>()

/** The same, remembered until the node changes. `key` is of the namespace and the selector (`keyOfMeant`). */
export function rememberedMatchingPods(constraint: Constraint, key: string, namespace: string, node: NodeInfo): number {
  let known = counted.get(node)
  if (known?.generation !== node.generation)
    counted.set(node, (known = { generation: node.generation, counts: new Map() }))
  let count = known.counts.get(key)
  if (count === undefined) known.counts.set(key, (count = matchingPods(constraint, namespace, node)))
  return count
}

export const keyOfMeant = ({ selector }: Constraint, namespace: string): string =>
  `${namespace} ${selector.everything} ${selectorText(selector)}`

export const isMeant = (selector: Selector, namespace: string, other: PodInfo): boolean =>
  other.namespace === namespace && !other.pod.metadata.deletionTimestamp && selector.matches(other.labels)

/**
 * What a node adds: for each constraint (by its place in the list) the pods in its domain. `needsAllKeys`: nodes
 * without one of the keys add nothing.
 */
export function sharesOf(
  constraints: readonly Constraint[],
  pod: PodInfo,
  node: NodeInfo,
  needsAllKeys: boolean,
): Share[] {
  if (needsAllKeys && !hasAllKeys(constraints, node)) return []
  const required = requiredNodesOf(pod)
  return constraints.flatMap((constraint, at) => {
    if (!counts(constraint, pod, node, required)) return []
    const amount = rememberedMatchingPods(constraint, keyOfMeant(constraint, pod.namespace), pod.namespace, node)
    return [{ topology: String(at), domain: own(node.labels, constraint.topologyKey) ?? '', amount }]
  })
}

const known = new WeakMap<PodInfo, { readonly matcher: NodeMatcher | undefined }>()

export function requiredNodesOf(pod: PodInfo): NodeMatcher | undefined {
  let found = known.get(pod)
  if (!found) known.set(pod, (found = { matcher: requiredNodes(pod.pod.spec ?? {}) }))
  return found.matcher
}

/** All that shares of a node go by: what has the same text has the same counts. */
export function textOf(
  constraints: readonly Constraint[],
  { namespace, pod: { spec } }: PodInfo,
  needsAllKeys: boolean,
): string {
  const honorsAffinity = constraints.some((constraint) => constraint.honorsAffinity)
  const honorsTaints = constraints.some((constraint) => constraint.honorsTaints)
  return JSON.stringify([
    namespace,
    needsAllKeys,
    constraints.map(({ topologyKey, selector, honorsAffinity: a, honorsTaints: b }) => [
      topologyKey,
      selector.everything,
      selectorText(selector),
      a,
      b,
    ]),
    honorsAffinity && [
      spec?.nodeSelector,
      spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
    ],
    honorsTaints && spec?.tolerations,
  ])
}
