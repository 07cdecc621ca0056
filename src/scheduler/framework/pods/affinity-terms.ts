/** Terms of pod affinity and anti-affinity, parsed once for many matches. */
import type { Pod } from '../../../client/kinds.ts'
import { type Labels, labelSelectorOf, type Selector } from '../../../machinery/selectors/label-selector.ts'

type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>
type PodAffinity = NonNullable<Affinity['podAffinity']>
type Term = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number]

/** A term of pod affinity or anti-affinity with parsed selectors. */
export interface AffinityTerm {
  readonly topologyKey: string
  readonly selector: Selector
  /** Default: the pod's own namespace. */
  readonly namespaces: ReadonlySet<string>
  /** Selects further namespaces by label. */
  readonly namespaceSelector: Selector
}

/** A preferred term. */
export interface WeightedAffinityTerm {
  readonly term: AffinityTerm
  readonly weight: number
}

/** The terms of a pod. */
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[]
  readonly preferred: readonly WeightedAffinityTerm[]
}

const none: AffinityTerms = { required: [], preferred: [] }

/** Throws an Error for an invalid selector; the API server rejects those. */
export function affinityTerms(affinity: PodAffinity | undefined, namespace: string): AffinityTerms {
  if (!affinity) return none
  return {
    required: (affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) =>
      affinityTerm(term, namespace),
    ),
    preferred: (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm, weight }) => ({
      term: affinityTerm(podAffinityTerm, namespace),
      weight,
    })),
  }
}

function affinityTerm(
  { topologyKey, labelSelector, namespaces = [], namespaceSelector }: Term,
  namespace: string,
): AffinityTerm {
  return {
    topologyKey,
    selector: labelSelectorOf(labelSelector),
    namespaces: new Set(namespaces.length === 0 && !namespaceSelector ? [namespace] : namespaces),
    namespaceSelector: labelSelectorOf(namespaceSelector),
  }
}

/**
 * Returns true if the term selects pods of this namespace with these labels. `namespaceLabels` is called only if
 * needed.
 */
export function termMatches(
  term: AffinityTerm,
  namespace: string,
  labels: Labels,
  namespaceLabels: (namespace: string) => Labels | undefined,
): boolean {
  if (!term.namespaces.has(namespace)) {
    const { namespaceSelector } = term
    const isMeant =
      namespaceSelector.everything ||
      (namespaceSelector.requirements.length > 0 && namespaceSelector.matches(namespaceLabels(namespace)))
    if (!isMeant) return false
  }
  return term.selector.matches(labels)
}
