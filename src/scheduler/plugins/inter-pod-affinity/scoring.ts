/** Scores nodes by preferred pod affinity and anti-affinity: the pod's own, and by symmetry that of existing pods. */
import { own } from '../../../lib/own.ts'
import {
  type AffinityTerm,
  maxNodeScore,
  type NodeInfo,
  type PodInfo,
  type WeightedAffinityTerm,
} from '../../framework/index.ts'
import type { Domains, Share } from '../topology/counts.ts'
import { addShare, matches, type NamespaceLabels } from './terms.ts'

/** The preferred terms of the pod. */
export interface Preferences {
  readonly near: readonly WeightedAffinityTerm[]
  readonly far: readonly WeightedAffinityTerm[]
}

/**
 * The scores that the pods of a node add to all nodes in the same domains. `hardWeight`: the weight of required
 * affinity of existing pods.
 */
export function sharesOfPreferences(
  pod: PodInfo,
  { near, far }: Preferences,
  node: NodeInfo,
  hardWeight: number,
  namespaceLabels: NamespaceLabels,
): Share[] {
  const shares: Share[] = []
  const count = (term: AffinityTerm, weight: number, selected: PodInfo): void => {
    if (weight !== 0 && matches(term, selected, namespaceLabels)) addShare(shares, term, node, weight)
  }
  if (near.length + far.length > 0) {
    for (const other of node.pods) {
      for (const { term, weight } of near) count(term, weight, other)
      for (const { term, weight } of far) count(term, -weight, other)
    }
  }
  for (const other of node.podsWithAffinity) {
    for (const term of other.requiredAffinity) count(term, hardWeight, pod)
    for (const { term, weight } of other.preferredAffinity) count(term, weight, pod)
    for (const { term, weight } of other.preferredAntiAffinity) count(term, -weight, pod)
  }
  return shares
}

export function score(domains: Domains, { labels }: NodeInfo): number {
  let sum = 0
  for (const topologyKey of domains.topologies) {
    const domain = own(labels, topologyKey)
    if (domain !== undefined) sum += domains.amount(topologyKey, domain)
  }
  return sum
}

/** Scales to 0 … maxNodeScore; all scores are 0 if they are equal. */
export function normalize(scores: number[]): void {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of scores) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  for (const [at, value] of scores.entries())
    scores[at] = most > least ? Math.trunc(maxNodeScore * ((value - least) / (most - least))) : 0
}
