/**
 * Filters nodes by required pod affinity and anti-affinity: that of the pod, and the anti-affinity of existing pods.
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
  /** The pod's own terms, with namespaces resolved. */
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  /** The numbers of pods that match all terms of `affinity`, by topology key and value. */
  readonly near: Counts
  /** The numbers of pods that match a term of `antiAffinity`. */
  readonly far: Counts
  /** The numbers of pods with anti-affinity against this pod. */
  readonly against: Counts
}

/** For terms whose namespaces are resolved. */
const unlabeled: NamespaceLabels = () => undefined

/** The counts of a node's pods for affinity: a pod has to match all terms. */
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

/** The counts of a node's pods with anti-affinity against this pod. */
export function sharesAgainst(pod: PodInfo, node: NodeInfo, namespaceLabels: NamespaceLabels): Share[] {
  const shares: Share[] = []
  for (const other of node.podsWithRequiredAntiAffinity)
    for (const term of other.requiredAntiAffinity)
      if (matches(term, pod, namespaceLabels)) addShare(shares, term, node, 1)
  return shares
}

/** Counts a pod that is added to a node (or removed, by -1). */
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

/** The first pod of a group with affinity to itself may run on any node with the topology labels. */
function isNear({ affinity, near }: Filtering, pod: PodInfo, labels: NodeInfo['labels']): boolean {
  let isMissing = false
  for (const { topologyKey } of affinity) {
    const domain = own(labels, topologyKey)
    if (domain === undefined) return false
    isMissing ||= near.amount(topologyKey, domain) <= 0
  }
  return !isMissing || (near.isZero && allMatch(affinity, pod, unlabeled))
}
