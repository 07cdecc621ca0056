/** InterPodAffinity: `spec.affinity.podAffinity` and `podAntiAffinity`, required and preferred. */
import { namespaces } from '../../../client/kinds.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import {
  type AffinityTerm,
  type Handle,
  type NodeInfo,
  type Plugin,
  type PluginFactory,
  type PodInfo,
  pluginFactory,
  type Snapshot,
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
  make,
})

const noDomains = new Domains()

function make(
  { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods }: InterPodAffinityArgs,
  handle: Handle,
): Plugin<Filtering, Domains> {
  const known = handle.lister(namespaces)
  let namespacesVersion = 0
  known.onChange(() => {
    namespacesVersion++
  })
  const namespaceLabels: NamespaceLabels = (name) => known.get('', name)?.metadata.labels
  const all = () => known.all()
  /** The key of terms. It includes the version of namespaces if a term selects them by label. */
  const textOf = (terms: readonly AffinityTerm[], wire: unknown, { namespace }: PodInfo): string =>
    terms.length === 0 ? '' : JSON.stringify([namespace, wire, terms.some(isByNamespaceLabels) ? namespacesVersion : 0])
  /** The key of everything that terms of other pods read of a pod. */
  const podKey = ({ namespace, labels }: PodInfo): string =>
    JSON.stringify([namespace, namespaceLabels(namespace), labels])
  const [filterTallies, scoreTallies] = [new NodeTallies(), new NodeTallies()]

  return {
    events: events(namespaceLabels),

    preFilter(pod, snapshot) {
      const { requiredAffinity, requiredAntiAffinity } = pod
      const against = existing(pod, snapshot)
      if (against.isEmpty && requiredAffinity.length + requiredAntiAffinity.length === 0) return skip
      const [affinity, antiAffinity] = [
        withNamedNamespaces(requiredAffinity, all),
        withNamedNamespaces(requiredAntiAffinity, all),
      ]
      const { podAffinity, podAntiAffinity } = pod.pod.spec?.affinity ?? {}
      const nearText = textOf(requiredAffinity, podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod)
      const farText = textOf(requiredAntiAffinity, podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, pod)
      const near = nearText
        ? filterTallies.count(`near ${nearText}`, snapshot.nodes, (node) => sharesNear(affinity, node))
        : noDomains
      const far = farText
        ? filterTallies.count(`far ${farText}`, snapshot.nodes, (node) => sharesFar(antiAffinity, node))
        : noDomains
      return {
        state: { affinity, antiAffinity, near: new Counts(near), far: new Counts(far), against: new Counts(against) },
      }
    },
    copyState: ({ near, far, against, ...terms }) => ({
      ...terms,
      near: near.copy(),
      far: far.copy(),
      against: against.copy(),
    }),
    addPod: (state, pod, added, node) => change(state, pod, added, node, 1, namespaceLabels),
    removePod: (state, pod, removed, node) => change(state, pod, removed, node, -1, namespaceLabels),
    filter,

    preScore(pod) {
      const { preferredAffinity, preferredAntiAffinity } = pod
      const prefers = preferredAffinity.length + preferredAntiAffinity.length > 0
      const { nodes, nodesWithAffinity } = handle.snapshot
      if (!prefers && (ignorePreferredTermsOfExistingPods || nodesWithAffinity.size === 0)) return skip
      const { podAffinity, podAntiAffinity } = pod.pod.spec?.affinity ?? {}
      const wire = [
        podAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
        podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
      ]
      const text = textOf(
        [...preferredAffinity, ...preferredAntiAffinity].map(({ term }) => term),
        wire,
        pod,
      )
      const preferences = { near: preferredAffinity, far: preferredAntiAffinity }
      const shares = (node: NodeInfo) =>
        sharesOfPreferences(pod, preferences, node, hardPodAffinityWeight, namespaceLabels)
      const domains = scoreTallies.count(`${text} ${podKey(pod)}`, nodes, shares, prefers ? nodes : nodesWithAffinity)
      return domains.isEmpty ? skip : { state: domains }
    },
    score: (domains, _, node) => score(domains, node),
    normalize: (_, __, scores) => normalize(scores),
  }

  function existing(pod: PodInfo, { nodes, nodesWithRequiredAntiAffinity }: Snapshot): Domains {
    if (nodesWithRequiredAntiAffinity.size === 0) return noDomains
    return filterTallies.count(
      `against ${podKey(pod)}`,
      nodes,
      (node) => sharesAgainst(pod, node, namespaceLabels),
      nodesWithRequiredAntiAffinity,
    )
  }
}
