/** Scores nodes by how evenly the pods would be spread, for constraints with ScheduleAnyway. */
import { own } from '../../../lib/own.ts'
import { maxNodeScore, type NodeInfo, type PodInfo } from '../../framework/index.ts'
import type { Domains } from '../topology/counts.ts'
import { type Constraint, cachedMatchingPods, hasAllKeys, matchingKey } from './constraints.ts'

const hostname = 'kubernetes.io/hostname'

export interface Scoring {
  readonly constraints: readonly Constraint[]
  readonly domains: Domains
  /** Nodes without one of the topology labels; their score is 0. */
  readonly ignored: ReadonlySet<string>
  /** By constraint: compensates for the number of domains. */
  readonly weights: readonly number[]
  /** By constraint: the cache key for its count of matching pods per node. */
  readonly keys: readonly string[]
}

/** The state for scoring `nodes` for a pod of this namespace. */
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
  const remaining = ignored.size === 0 ? nodes : nodes.filter(({ name }) => !ignored.has(name))
  const weights = constraints.map(({ topologyKey }) => {
    const size =
      topologyKey === hostname
        ? remaining.length
        : new Set(remaining.map(({ labels }) => own(labels, topologyKey) ?? '')).size
    return Math.log(size + 2)
  })
  return {
    constraints,
    domains,
    ignored,
    weights,
    keys: constraints.map((constraint) => matchingKey(constraint, namespace)),
  }
}

/** The raw score: higher with more pods. For the hostname topology all matching pods of the node count. */
export function score({ constraints, domains, ignored, weights, keys }: Scoring, pod: PodInfo, node: NodeInfo): number {
  if (ignored.has(node.name)) return 0
  let sum = 0
  constraints.forEach((constraint, at) => {
    const domain = own(node.labels, constraint.topologyKey)
    if (domain === undefined) return
    const isOne = constraint.topologyKey === hostname
    const count = isOne
      ? cachedMatchingPods(constraint, keys[at] ?? '', pod.namespace, node)
      : domains.amount(String(at), domain)
    // A tolerated skew reduces the differences.
    sum += count * (weights[at] ?? 0) + (constraint.maxSkew - 1)
  })
  return Math.round(sum)
}

export function normalize({ ignored }: Scoring, scores: number[], nodes: readonly NodeInfo[]): void {
  const isIgnored = (at: number): boolean => ignored.has(nodes[at]?.name ?? '')
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0]
  scores.forEach((value, at) => {
    if (isIgnored(at)) return
    lowest = Math.min(lowest, value)
    highest = Math.max(highest, value)
  })
  scores.forEach((value, at) => {
    if (isIgnored(at)) scores[at] = 0
    else scores[at] = highest === 0 ? maxNodeScore : Math.trunc((maxNodeScore * (highest + lowest - value)) / highest)
  })
}
