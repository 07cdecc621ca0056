/** Terms of pod (anti-)affinity, made ready to be asked many times. */
import type { Pod } from '../../../client/kinds.ts'
import { type Labels, labelSelectorOf, type Selector } from '../../../machinery/selectors/label-selector.ts'

type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>
type PodAffinity = NonNullable<Affinity['podAffinity']>
type Term = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number]

export interface AffinityTerm {
  readonly topologyKey: string
  readonly selector: Selector
  /** The pod's own namespace where the term names none. */
  readonly namespaces: ReadonlySet<string>
  /** Namespaces by their labels, beside those that are named. */
  readonly namespaceSelector: Selector
}

export interface WeightedAffinityTerm {
  readonly term: AffinityTerm
  readonly weight: number
}

export interface AffinityTerms {
  readonly required: readonly AffinityTerm[]
  readonly preferred: readonly WeightedAffinityTerm[]
}

const none: AffinityTerms = { required: [], preferred: [] }

/** Throws an Error where a selector is not valid, which the API server does not let through. */
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
 * Whether the term means a pod of this namespace with these labels. `namespaceLabels` is asked only where it matters.
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
