/** The pods in each domain of a topology, collected once for all nodes. */
import { own } from '../../lib/own.ts'
import type { Labels } from '../../machinery/selectors/label-selector.ts'
import type { PodInfo, Snapshot } from '../framework/index.ts'
import { type Constraint, constraintsOf, sharesOf } from '../plugins/pod-topology-spread/constraints.ts'

/** A DoNotSchedule constraint with the number of matching pods in each domain. */
export interface CountedConstraint extends Constraint {
  readonly domains: ReadonlyMap<string, number>
}

export class Surroundings {
  readonly snapshot: Snapshot
  readonly namespaceLabels: (namespace: string) => Labels | undefined
  /** By topology key and domain. */
  readonly #pods = new Map<string, Map<string, PodInfo[]>>()
  readonly #constraints = new WeakMap<PodInfo, readonly CountedConstraint[]>()

  constructor(snapshot: Snapshot, namespaceLabels: (namespace: string) => Labels | undefined) {
    this.snapshot = snapshot
    this.namespaceLabels = namespaceLabels
  }

  /** The pods on all nodes with this value of the label. */
  podsIn(topologyKey: string, domain: string): readonly PodInfo[] {
    let domains = this.#pods.get(topologyKey)
    if (!domains) {
      this.#pods.set(topologyKey, (domains = new Map<string, PodInfo[]>()))
      for (const { labels, pods } of this.snapshot.nodes) {
        const value = own(labels, topologyKey)
        if (value !== undefined) domains.set(value, [...(domains.get(value) ?? []), ...pods])
      }
    }
    return domains.get(domain) ?? []
  }

  /** The pod's own DoNotSchedule constraints. */
  spreadOf(pod: PodInfo): readonly CountedConstraint[] {
    const known = this.#constraints.get(pod)
    if (known) return known
    const constraints = constraintsOf(pod.pod.spec?.topologySpreadConstraints ?? [], pod.labels, 'DoNotSchedule')
    const shares = this.snapshot.nodes.flatMap((node) => sharesOf(constraints, pod, node, true))
    const counted = constraints.map((constraint, at) => {
      const domains = new Map<string, number>()
      for (const { topology, domain, amount } of shares)
        if (topology === String(at)) domains.set(domain, (domains.get(domain) ?? 0) + amount)
      return { ...constraint, domains }
    })
    this.#constraints.set(pod, counted)
    return counted
  }
}
