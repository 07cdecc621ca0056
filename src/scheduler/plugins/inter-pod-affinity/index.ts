/** InterPodAffinity: `spec.affinity.podAffinity` and `podAntiAffinity`, required and preferred. */
import { type Namespace, namespaces } from '../../../client/kinds.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import {
  type AffinityTerm,
  type EventRegistration,
  type Handle,
  type Lister,
  type NodeInfo,
  type Plugin,
  type PluginFactory,
  type PodInfo,
  type PreFiltered,
  pluginFactory,
  type Snapshot,
  type Status,
  skip,
} from '../../framework/index.ts'
import { Counts, Domains } from '../topology/counts.ts'
import { NodeTallies } from '../topology/node-tally.ts'
import { change, type Filtering, filter, sharesAgainst, sharesFar, sharesNear } from './filtering.ts'
import { events } from './hints.ts'
import { normalize, score, sharesOfPreferences } from './scoring.ts'
import { isByNamespaceLabels, type NamespaceLabels, withNamedNamespaces } from './terms.ts'

export interface InterPodAffinityArgs {
  /** The weight of required affinity of existing pods in scores, 0 to 100. */
  readonly hardPodAffinityWeight: number
  /** True to ignore preferences of existing pods for pods without affinity. */
  readonly ignorePreferredTermsOfExistingPods: boolean
}

export const interPodAffinity: PluginFactory = pluginFactory<InterPodAffinityArgs>({
  name: 'InterPodAffinity',
  args: {
    fields: {
      hardPodAffinityWeight: { kind: 'integer', format: 'int32' },
      ignorePreferredTermsOfExistingPods: { kind: 'boolean' },
    },
    withDefaults: (given) => ({ hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false, ...given }),
    validate: ({ hardPodAffinityWeight: weight }, path) =>
      weight < 0 || weight > 100
        ? [invalidValue(`${path}.hardPodAffinityWeight`, weight, 'not in valid range [0, 100]')]
        : [],
  },
  make: (args, handle) => new InterPodAffinity(args, handle),
})

const noDomains = new Domains()

class InterPodAffinity implements Plugin<Filtering, Domains> {
  readonly events: readonly EventRegistration[]
  readonly filter = filter
  readonly #args: InterPodAffinityArgs
  readonly #handle: Handle
  readonly #namespaces: Lister<Namespace>
  readonly #namespaceLabels: NamespaceLabels
  #namespacesVersion = 0
  readonly #filterTallies = new NodeTallies()
  readonly #scoreTallies = new NodeTallies()

  constructor(args: InterPodAffinityArgs, handle: Handle) {
    this.#args = args
    this.#handle = handle
    const lister = handle.lister(namespaces)
    lister.onChange(() => {
      this.#namespacesVersion++
    })
    this.#namespaces = lister
    this.#namespaceLabels = (name) => lister.get('', name)?.metadata.labels
    this.events = events(this.#namespaceLabels)
  }

  preFilter(pod: PodInfo, snapshot: Snapshot): PreFiltered<Filtering> | Status {
    const { requiredAffinity, requiredAntiAffinity } = pod
    const against = this.#domainsAgainst(pod, snapshot)
    if (against.isEmpty && requiredAffinity.length + requiredAntiAffinity.length === 0) return skip
    const affinity = this.#withNamedNamespaces(requiredAffinity)
    const antiAffinity = this.#withNamedNamespaces(requiredAntiAffinity)
    const { podAffinity, podAntiAffinity } = pod.pod.spec?.affinity ?? {}
    const nearKey = this.#keyOfTerms(requiredAffinity, podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod)
    const farKey = this.#keyOfTerms(
      requiredAntiAffinity,
      podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
      pod,
    )
    const near = nearKey
      ? this.#filterTallies.count(`near ${nearKey}`, snapshot.nodes, (node) => sharesNear(affinity, node))
      : noDomains
    const far = farKey
      ? this.#filterTallies.count(`far ${farKey}`, snapshot.nodes, (node) => sharesFar(antiAffinity, node))
      : noDomains
    return {
      state: { affinity, antiAffinity, near: new Counts(near), far: new Counts(far), against: new Counts(against) },
    }
  }

  copyState({ affinity, antiAffinity, near, far, against }: Filtering): Filtering {
    return { affinity, antiAffinity, near: near.copy(), far: far.copy(), against: against.copy() }
  }

  addPod(state: Filtering, pod: PodInfo, added: PodInfo, node: NodeInfo): void {
    change(state, pod, added, node, 1, this.#namespaceLabels)
  }

  removePod(state: Filtering, pod: PodInfo, removed: PodInfo, node: NodeInfo): void {
    change(state, pod, removed, node, -1, this.#namespaceLabels)
  }

  preScore(pod: PodInfo): { readonly state: Domains } | Status {
    const { preferredAffinity, preferredAntiAffinity } = pod
    const hasPreferences = preferredAffinity.length + preferredAntiAffinity.length > 0
    const { nodes, nodesWithAffinity } = this.#handle.snapshot
    const { ignorePreferredTermsOfExistingPods, hardPodAffinityWeight } = this.#args
    if (!hasPreferences && (ignorePreferredTermsOfExistingPods || nodesWithAffinity.size === 0)) return skip
    const preferences = { near: preferredAffinity, far: preferredAntiAffinity }
    const domains = this.#scoreTallies.count(
      `${this.#keyOfPreferences(pod)} ${this.#keyOfPod(pod)}`,
      nodes,
      (node) => sharesOfPreferences(pod, preferences, node, hardPodAffinityWeight, this.#namespaceLabels),
      hasPreferences ? nodes : nodesWithAffinity,
    )
    return domains.isEmpty ? skip : { state: domains }
  }

  score(domains: Domains, _pod: PodInfo, node: NodeInfo): number {
    return score(domains, node)
  }

  normalize(_domains: Domains, _pod: PodInfo, scores: number[]): void {
    normalize(scores)
  }

  /** The domains of pods with required anti-affinity against this pod. */
  #domainsAgainst(pod: PodInfo, { nodes, nodesWithRequiredAntiAffinity }: Snapshot): Domains {
    if (nodesWithRequiredAntiAffinity.size === 0) return noDomains
    return this.#filterTallies.count(
      `against ${this.#keyOfPod(pod)}`,
      nodes,
      (node) => sharesAgainst(pod, node, this.#namespaceLabels),
      nodesWithRequiredAntiAffinity,
    )
  }

  #withNamedNamespaces(terms: readonly AffinityTerm[]): readonly AffinityTerm[] {
    return withNamedNamespaces(terms, () => this.#namespaces.all())
  }

  /** The key of terms. It includes the version of namespaces if a term selects them by label. */
  #keyOfTerms(terms: readonly AffinityTerm[], wire: unknown, { namespace }: PodInfo): string {
    if (terms.length === 0) return ''
    return JSON.stringify([namespace, wire, terms.some(isByNamespaceLabels) ? this.#namespacesVersion : 0])
  }

  #keyOfPreferences(pod: PodInfo): string {
    const { podAffinity, podAntiAffinity } = pod.pod.spec?.affinity ?? {}
    const wire = [
      podAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
      podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    ]
    const terms = [...pod.preferredAffinity, ...pod.preferredAntiAffinity].map(({ term }) => term)
    return this.#keyOfTerms(terms, wire, pod)
  }

  /** The key of everything that terms of other pods read of a pod. */
  #keyOfPod({ namespace, labels }: PodInfo): string {
    return JSON.stringify([namespace, this.#namespaceLabels(namespace), labels])
  }
}
