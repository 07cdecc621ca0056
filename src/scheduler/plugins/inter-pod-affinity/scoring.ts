/** How well nodes suit preferred pod (anti-)affinity: that of the pod, and by symmetry that of pods that are there. */
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

/** What the pod prefers; namespaces are named. */
export interface Preferences {
  readonly near: readonly WeightedAffinityTerm[]
  readonly far: readonly WeightedAffinityTerm[]
}

/**
 * What the pods of a node add to the scores of all nodes in the same domains. `hardWeight`: what a required affinity of
 * theirs counts for.
 */
export function sharesOfPreferences(
  pod: PodInfo,
  { near, far }: Preferences,
  node: NodeInfo,
  hardWeight: number,
  namespaceLabels: NamespaceLabels,
): Share[] {
  const shares: Share[] = []
  const count = (term: AffinityTerm, weight: number, meant: PodInfo): void => {
    if (weight !== 0 && matches(term, meant, namespaceLabels)) addShare(shares, term, node, weight)
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

/** The best node gets the most, the worst nothing; if all are the same, all get nothing. */
export function normalize(scores: number[]): void {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of scores) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  for (const [at, value] of scores.entries())
    scores[at] = most > least ? Math.trunc(maxNodeScore * ((value - least) / (most - least))) : 0
}
