/** How evenly pods would be spread with a pod on a node, by the constraints that are only wishes. */
import { own } from '../../../lib/own.ts'
import { maxNodeScore, type NodeInfo, type PodInfo } from '../../framework/index.ts'
import type { Domains } from '../topology/counts.ts'
import { type Constraint, hasAllKeys, keyOfMeant, rememberedMatchingPods } from './constraints.ts'

const hostname = 'kubernetes.io/hostname'

export interface Scoring {
  readonly constraints: readonly Constraint[]
  readonly domains: Domains
  /** Nodes that miss a topology: they score nothing. */
  readonly ignored: ReadonlySet<string>
  /** By constraint: topologies with few domains are not watered down by those with many. */
  readonly weights: readonly number[]
  /** By constraint: what pods of a node it is about are counted under. */
  readonly keys: readonly string[]
}

/** What scores need, where one of `nodes` is to be chosen for a pod of this namespace. */
export function scoringOf(
  constraints: readonly Constraint[],
  namespace: string,
  domains: Domains,
  nodes: readonly NodeInfo[],
  needsAllKeys: boolean,
): Scoring {
  const ignored = new Set(
    needsAllKeys ? nodes.filter((node) => !hasAllKeys(constraints, node)).map(({ name }) => name) : [],
  )
  const left = ignored.size === 0 ? nodes : nodes.filter(({ name }) => !ignored.has(name))
  const weights = constraints.map(({ topologyKey }) => {
    const size =
      topologyKey === hostname ? left.length : new Set(left.map(({ labels }) => own(labels, topologyKey) ?? '')).size
    return Math.log(size + 2)
  })
  return {
    constraints,
    domains,
    ignored,
    weights,
    keys: constraints.map((constraint) => keyOfMeant(constraint, namespace)),
  }
}

/** The more pods there are already, the higher. Of a single node all pods are counted, whether it may count or not. */
export function score({ constraints, domains, ignored, weights, keys }: Scoring, pod: PodInfo, node: NodeInfo): number {
  if (ignored.has(node.name)) return 0
  let sum = 0
  constraints.forEach((constraint, at) => {
    const domain = own(node.labels, constraint.topologyKey)
    if (domain === undefined) return
    const isOne = constraint.topologyKey === hostname
    const count = isOne
      ? rememberedMatchingPods(constraint, keys[at] ?? '', pod.namespace, node)
      : domains.amount(String(at), domain)
    // A skew that is tolerated waters differences down.
    sum += count * (weights[at] ?? 0) + (constraint.maxSkew - 1)
  })
  return Math.round(sum)
}

export function normalize({ ignored }: Scoring, scores: number[], nodes: readonly NodeInfo[]): void {
  const isIgnored = (at: number): boolean => ignored.has(nodes[at]?.name ?? '')
  let [least, most] = [Number.POSITIVE_INFINITY, 0]
  scores.forEach((value, at) => {
    if (isIgnored(at)) return
    least = Math.min(least, value)
    most = Math.max(most, value)
  })
  scores.forEach((value, at) => {
    if (isIgnored(at)) scores[at] = 0
    else scores[at] = most === 0 ? maxNodeScore : Math.trunc((maxNodeScore * (most + least - value)) / most)
  })
}
