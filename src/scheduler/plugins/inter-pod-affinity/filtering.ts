/**
 * Which nodes required pod (anti-)affinity leaves: that of the pod itself, and the anti-affinity of pods that are
 * there.
 */
import { own } from '../../../lib/own.ts'
import {
  type AffinityTerm,
  type NodeInfo,
  type PodInfo,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts'
import type { Counts, Share } from '../topology/counts.ts'
import { addShare, allMatch, matches, type NamespaceLabels } from './terms.ts'

const affinityUnmet = unresolvable("node(s) didn't match pod affinity rules")
const antiAffinityUnmet = unschedulable("node(s) didn't match pod anti-affinity rules")
const existingAntiAffinityUnmet = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")

export interface Filtering {
  /** The pod's own terms; their namespaces are named. */
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  /** Pods that all of `affinity` mean, by topology key and value. */
  readonly near: Counts
  /** Pods that one of `antiAffinity` means. */
  readonly far: Counts
  /** Pods with anti-affinity against this one. */
  readonly against: Counts
}

/** No namespace has labels: for terms whose namespaces are named. */
const unlabeled: NamespaceLabels = () => undefined

/** What the pods of a node count for under affinity: all of the terms have to mean a pod. */
export function sharesNear(terms: readonly AffinityTerm[], node: NodeInfo): Share[] {
  const shares: Share[] = []
  for (const pod of node.pods)
    if (allMatch(terms, pod, unlabeled)) for (const term of terms) addShare(shares, term, node, 1)
  return shares
}

export function sharesFar(terms: readonly AffinityTerm[], node: NodeInfo): Share[] {
  const shares: Share[] = []
  for (const pod of node.pods)
    for (const term of terms) if (matches(term, pod, unlabeled)) addShare(shares, term, node, 1)
  return shares
}

/** What the pods of a node count for that will not have this pod near. */
export function sharesAgainst(pod: PodInfo, node: NodeInfo, namespaceLabels: NamespaceLabels): Share[] {
  const shares: Share[] = []
  for (const other of node.podsWithRequiredAntiAffinity)
    for (const term of other.requiredAntiAffinity)
      if (matches(term, pod, namespaceLabels)) addShare(shares, term, node, 1)
  return shares
}

/** Counts one more pod (or, by -1, one less) on a node. */
export function change(
  state: Filtering,
  pod: PodInfo,
  changed: PodInfo,
  node: NodeInfo,
  by: 1 | -1,
  namespaceLabels: NamespaceLabels,
): void {
  const alone = (term: AffinityTerm, counts: Counts): void => {
    const domain = own(node.labels, term.topologyKey)
    if (domain !== undefined) counts.change(term.topologyKey, domain, by)
  }
  for (const term of changed.requiredAntiAffinity) if (matches(term, pod, namespaceLabels)) alone(term, state.against)
  if (allMatch(state.affinity, changed, unlabeled)) for (const term of state.affinity) alone(term, state.near)
  for (const term of state.antiAffinity) if (matches(term, changed, unlabeled)) alone(term, state.far)
}

export function filter(state: Filtering, pod: PodInfo, { labels }: NodeInfo): Status | undefined {
  if (!isNear(state, pod, labels)) return affinityUnmet
  for (const { topologyKey } of state.antiAffinity) {
    const domain = own(labels, topologyKey)
    if (domain !== undefined && state.far.amount(topologyKey, domain) > 0) return antiAffinityUnmet
  }
  for (const topologyKey of state.against.topologies) {
    const domain = own(labels, topologyKey)
    if (domain !== undefined && state.against.amount(topologyKey, domain) > 0) return existingAntiAffinityUnmet
  }
  return undefined
}

/** Of pods that want to be near each other the first one may be alone, wherever the topology is known. */
function isNear({ affinity, near }: Filtering, pod: PodInfo, labels: NodeInfo['labels']): boolean {
  let isMissing = false
  for (const { topologyKey } of affinity) {
    const domain = own(labels, topologyKey)
    if (domain === undefined) return false
    isMissing ||= near.amount(topologyKey, domain) <= 0
  }
  return !isMissing || (near.isZero && allMatch(affinity, pod, unlabeled))
}
