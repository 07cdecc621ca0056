/**
 * The rules of the pods of a node, updated with what has changed: a pod is compared with selectors when it or its
 * namespace changes, and a chain is made again when one of its policies changes.
 */
import { isIP } from 'node:net'
import { type CompiledPolicy, type Direction, directions, type PodSelector } from '../picture/compiled-policy.ts'
import type { PolicyObjects, PolicyPod } from '../picture/policy-objects.ts'
import { everyPod, PodGroups } from './pod-groups.ts'
import type { PolicySet, PolicyState } from './policy-state.ts'
import { type BuiltChain, builtChain, type SetSource } from './rule-chain.ts'
import { type FirstChains, type SharedChain, TierChains } from './tier-chains.ts'

type ChainsOfPod = Readonly<Partial<Record<Direction, FirstChains>>>

interface CachedSet {
  readonly versions: string
  readonly set: PolicySet
}

export class NodePolicies {
  readonly #objects: PolicyObjects
  readonly #node: string
  readonly #groups: PodGroups
  readonly #policies = new Map<string, CompiledPolicy>()
  /** Keys by the namespace of subjects; empty: all. */
  readonly #byNamespace = new Map<string, Set<string>>()
  /** Of isolated pods. */
  readonly #chainsOfPods = new Map<string, ChainsOfPod>()
  readonly #chains = new TierChains()
  readonly #states = new Map<4 | 6, PolicyState>()
  readonly #sets = new Map<4 | 6, ReadonlyMap<string, CachedSet>>()
  /** Changes with the nodes. */
  #nodesVersion = 0

  constructor(objects: PolicyObjects, node: string) {
    this.#objects = objects
    this.#node = node
    this.#groups = new PodGroups(objects)
  }

  /** The rules of a family, after the changes of the objects since the last call. */
  state(family: 4 | 6): PolicyState {
    this.#update()
    const known = this.#states.get(family)
    if (known) return known
    const state = this.#newState(family)
    this.#states.set(family, state)
    return state
  }

  #update(): void {
    const { policies, pods, namespaces, nodes } = this.#objects.takeChanges()
    if (policies.size + pods.size + namespaces.size + nodes.size === 0) return
    this.#states.clear()
    if (nodes.size > 0) this.#nodesVersion++
    const changedPods = new Set(pods)
    for (const [key, pod] of namespaces.size > 0 ? this.#objects.podsByKey : [])
      if (namespaces.has(pod.namespace)) changedPods.add(key)
    for (const key of changedPods) this.#groups.updatePod(key)
    for (const key of this.#updatePolicies(policies)) changedPods.add(key)
    for (const key of changedPods) this.#assign(key)
  }

  /** Returns the pods of the node that a changed policy selects, or has selected. */
  #updatePolicies(keys: ReadonlySet<string>): ReadonlySet<string> {
    const affected = new Set<string>()
    const selectors: PodSelector[] = []
    for (const key of keys) {
      const now = this.#objects.policy(key)
      const old = this.#policies.get(key)
      for (const one of [old, now]) if (one) selectors.push(one.subject)
      const [namespace = ''] = key.split('/')
      const ofNamespace = this.#byNamespace.get(namespace) ?? new Set()
      this.#byNamespace.set(namespace, ofNamespace)
      if (now) ofNamespace.add(key)
      else ofNamespace.delete(key)
      if (now) this.#policies.set(key, now)
      else this.#policies.delete(key)
    }
    if (keys.size === 0) return affected
    for (const { policies, built } of this.#chains.all) if (policies.some((policy) => keys.has(policy))) built.clear()
    for (const [key, pod] of this.#objects.podsByKey) {
      if (pod.node !== this.#node) continue
      const labels = this.#objects.labelsOf(pod.namespace)
      if (selectors.some(({ matches }) => matches(pod, labels))) affected.add(key)
    }
    return affected
  }

  #assign(key: string): void {
    const pod = this.#objects.pod(key)
    const chains = pod && pod.node === this.#node ? this.#chainsFor(pod) : {}
    if (chains.Ingress || chains.Egress) this.#chainsOfPods.set(key, chains)
    else this.#chainsOfPods.delete(key)
  }

  #chainsFor(pod: PolicyPod): ChainsOfPod {
    const labels = this.#objects.labelsOf(pod.namespace)
    const selecting = [pod.namespace, '']
      .flatMap((namespace) => [...(this.#byNamespace.get(namespace) ?? [])])
      .map((key) => [key, this.#policies.get(key)!] as const)
      .filter(([, { subject }]) => subject.matches(pod, labels))
    const [Ingress, Egress] = [this.#chains.firstFor('Ingress', selecting), this.#chains.firstFor('Egress', selecting)]
    return { ...(Ingress && { Ingress }), ...(Egress && { Egress }) }
  }

  #newState(family: 4 | 6): PolicyState {
    const isolated = { Ingress: new Map<string, string>(), Egress: new Map<string, string>() }
    const selfIsolated = { Ingress: new Map<string, string>(), Egress: new Map<string, string>() }
    const used = new Set<SharedChain>()
    for (const [key, chains] of this.#chainsOfPods) {
      const addresses = this.#objects.pod(key)!.addresses.filter((address) => isIP(address) === family)
      if (addresses.length === 0) continue
      for (const direction of directions) {
        const { first, self } = chains[direction] ?? {}
        if (!first) continue
        for (const chain of withNext(first, self)) used.add(chain)
        for (const address of addresses) {
          isolated[direction].set(address, first.name)
          if (self) selfIsolated[direction].set(address, self.name)
        }
      }
    }
    const sources = new Map<string, SetSource>()
    const chains = new Map<string, BuiltChain>()
    for (const chain of used) {
      const built = this.#built(chain, family)
      chains.set(chain.name, built)
      for (const [name, source] of built.sets) sources.set(name, source)
    }
    const state = { chains, sets: this.#setsOf(sources, family), isolated, selfIsolated }
    this.#forgetUnused()
    return state
  }

  #built(chain: SharedChain, family: 4 | 6): BuiltChain {
    const known = chain.built.get(family)
    if (known) return known
    const policies = chain.policies.map((key) => this.#policies.get(key)!)
    const { direction, tier, next } = chain
    const built = builtChain({ direction, tier, policies, next: next?.name, family })
    chain.built.set(family, built)
    return built
  }

  #setsOf(sources: ReadonlyMap<string, SetSource>, family: 4 | 6): ReadonlyMap<string, PolicySet> {
    const before = this.#sets.get(family)
    const cached = new Map<string, CachedSet>()
    for (const [name, source] of sources) {
      const versions = this.#versionsOf(source)
      const known = before?.get(name)
      cached.set(name, known?.versions === versions ? known : { versions, set: this.#setOf(source, family) })
    }
    this.#sets.set(family, cached)
    return new Map([...cached].map(([name, { set }]) => [name, set]))
  }

  #setOf(source: SetSource, family: 4 | 6): PolicySet {
    switch (source.kind) {
      case 'addresses':
        return { kind: 'addresses', elements: this.#groups.addressesOf(source.pods, family) }
      case 'nodes': {
        const addresses = this.#objects.addressesOfNodes(source.nodes).filter((address) => isIP(address) === family)
        return { kind: 'addresses', elements: new Set(addresses) }
      }
      case 'destinations':
        return { kind: 'destinations', elements: this.#groups.destinationsOf(source, family) }
      default:
        return source satisfies never
    }
  }

  /** Of the groups of pods in a set, or of the nodes. */
  #versionsOf(source: SetSource): string {
    if (source.kind === 'nodes') return String(this.#nodesVersion)
    const groups = [
      ...(source.pods ? [source.pods] : []),
      ...(source.kind === 'destinations' && source.blocks.length > 0 ? [everyPod] : []),
    ]
    return groups.map((group) => this.#groups.versionOf(group)).join()
  }

  /** Chains that no pod has, and selectors that no chain has. */
  #forgetUnused(): void {
    this.#chains.retain(
      new Set(
        [...this.#chainsOfPods.values()].flatMap((chains) =>
          directions.flatMap((direction) => withNext(chains[direction]?.first, chains[direction]?.self)),
        ),
      ),
    )
    const selectors = new Set<string>()
    for (const { built } of this.#chains.all)
      for (const { sets } of built.values())
        for (const source of sets.values()) if (source.kind !== 'nodes' && source.pods) selectors.add(source.pods.key)
    this.#groups.retain(selectors)
  }
}

/** The chains and those of their next tiers. */
function withNext(...chains: readonly (SharedChain | undefined)[]): SharedChain[] {
  const found: SharedChain[] = []
  for (let chain of chains) for (; chain; chain = chain.next) found.push(chain)
  return found
}
