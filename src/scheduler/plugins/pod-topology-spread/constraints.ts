/**
 * Topology spread constraints of a pod, prepared: its own, or the default constraints for pods of a service or
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
  /** True if nodes that the pod's selector (or its tolerations) excludes are not counted. */
  readonly honorsAffinity: boolean
  readonly honorsTaints: boolean
}

/** The constraints of a list with this `whenUnsatisfiable`. `labels` are the pod's. */
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

/** Adds the pod's values of the `matchLabelKeys` to a selector. The API server may have done so already. */
function withKeys(selector: Selector, keys: readonly string[], labels: Labels): Selector {
  const added = keys.flatMap((key) => {
    const value = own(labels, key)
    return value === undefined ? [] : [{ key, operator: '=' as const, values: [value] }]
  })
  const isThere = (one: (typeof added)[number]): boolean =>
    selector.requirements.some((other) => isDeepStrictEqual(one, other))
  // As upstream, a selector that matches nothing matches something with keys.
  return added.length === 0 ? selector : selectorOf([...added.filter((one) => !isThere(one)), ...selector.requirements])
}

export const hasAllKeys = (constraints: readonly Constraint[], { labels }: NodeInfo): boolean =>
  constraints.every(({ topologyKey }) => own(labels, topologyKey) !== undefined)

/** Returns true if the node is counted for a constraint of the pod. */
export function isNodeCounted(
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
 * The number of pods on a node that match a constraint. Terminating pods are not counted, nor any pods for an empty
 * selector.
 */
function matchingPods({ selector }: Constraint, namespace: string, { pods }: NodeInfo): number {
  let count = 0
  if (selector.everything) return count
  for (const pod of pods) if (isMatching(selector, namespace, pod)) count++
  return count
}

/** Cached counts per node, by namespace and selector. */
const counted = new WeakMap<NodeInfo, { readonly generation: number; readonly counts: Map<string, number> }>()

/** The same, cached until the node changes. `key` stands for namespace and selector (`keyOfMeant`). */
export function cachedMatchingPods(constraint: Constraint, key: string, namespace: string, node: NodeInfo): number {
  let known = counted.get(node)
  if (known?.generation !== node.generation)
    counted.set(node, (known = { generation: node.generation, counts: new Map() }))
  let count = known.counts.get(key)
  if (count === undefined) known.counts.set(key, (count = matchingPods(constraint, namespace, node)))
  return count
}

export const matchingKey = ({ selector }: Constraint, namespace: string): string =>
  `${namespace} ${selector.everything} ${selectorText(selector)}`

export const isMatching = (selector: Selector, namespace: string, other: PodInfo): boolean =>
  other.namespace === namespace && !other.pod.metadata.deletionTimestamp && selector.matches(other.labels)

/**
 * The counts of a node by constraint (its index) and domain. With `needsAllKeys`, nodes without one of the topology
 * keys are not counted.
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
    if (!isNodeCounted(constraint, pod, node, required)) return []
    const amount = cachedMatchingPods(constraint, matchingKey(constraint, pod.namespace), pod.namespace, node)
    return [{ topology: String(at), domain: own(node.labels, constraint.topologyKey) ?? '', amount }]
  })
}

const known = new WeakMap<PodInfo, { readonly matcher: NodeMatcher | undefined }>()

export function requiredNodesOf(pod: PodInfo): NodeMatcher | undefined {
  let found = known.get(pod)
  if (!found) known.set(pod, (found = { matcher: requiredNodes(pod.pod.spec ?? {}) }))
  return found.matcher
}

/** A key of everything that the shares of a node depend on: equal keys have equal counts. */
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
