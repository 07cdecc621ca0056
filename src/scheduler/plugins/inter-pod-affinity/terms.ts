/** Matches terms of pod affinity and anti-affinity. */
import type { Namespace } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import type { Labels } from '../../../machinery/selectors/label-selector.ts'
import { nothing } from '../../../machinery/selectors/label-selector.ts'
import { type AffinityTerm, type NodeInfo, type PodInfo, termMatches } from '../../framework/index.ts'
import type { Share } from '../topology/counts.ts'

export type NamespaceLabels = (namespace: string) => Labels | undefined

/**
 * Returns true if the labels of namespaces matter. For a selector of all namespaces they do not: a pod may be cached
 * before its namespace.
 */
export const isByNamespaceLabels = ({ namespaceSelector }: AffinityTerm): boolean =>
  namespaceSelector.requirements.length > 0

export const matches = (
  term: AffinityTerm,
  { namespace, labels }: PodInfo,
  namespaceLabels: NamespaceLabels,
): boolean => termMatches(term, namespace, labels, namespaceLabels)

/** Returns true if all terms, at least one, match the pod. */
export const allMatch = (terms: readonly AffinityTerm[], pod: PodInfo, namespaceLabels: NamespaceLabels): boolean =>
  terms.length > 0 && terms.every((term) => matches(term, pod, namespaceLabels))

/** The terms with namespace selectors resolved to names. */
export const withNamedNamespaces = (
  terms: readonly AffinityTerm[],
  namespaces: () => Iterable<Namespace>,
): readonly AffinityTerm[] =>
  terms.map((term) =>
    isByNamespaceLabels(term) ? { ...term, namespaces: chosen(term, namespaces()), namespaceSelector: nothing } : term,
  )

function chosen(
  { namespaces: named, namespaceSelector }: AffinityTerm,
  namespaces: Iterable<Namespace>,
): ReadonlySet<string> {
  const all = new Set(named)
  for (const { metadata } of namespaces) if (namespaceSelector.matches(metadata.labels)) all.add(metadata.name ?? '')
  return all
}

/** Adds `amount` to the domain of the node for the term's topology key. */
export function addShare(shares: Share[], { topologyKey }: AffinityTerm, { labels }: NodeInfo, amount: number): void {
  const domain = own(labels, topologyKey)
  if (domain !== undefined) shares.push({ topology: topologyKey, domain, amount })
}
