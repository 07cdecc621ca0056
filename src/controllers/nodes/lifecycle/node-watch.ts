/** What is known of nodes and their zones from one look at all of them to the next. */
import type { Lease, Node } from '../../../client/kinds.ts'
import { type GracePeriods, heard, isSilent, type NodeHealth, readyCondition } from './health.ts'
import { EvictionQueue, type EvictionRates, evictionRate, type ZoneState, zoneOf, zoneState } from './zones.ts'

/** How many nodes of a zone are ready, and how many are not. */
export interface ZoneCount {
  readonly name: string
  readonly ready: number
  readonly notReady: number
}

interface Zone {
  state: ZoneState
  readonly queue: EvictionQueue
}

/** Nodes with this label do not count where zones are judged. */
const excluded = 'node.kubernetes.io/exclude-disruption'

export class NodeWatch {
  readonly #grace: GracePeriods
  readonly #rates: EvictionRates
  readonly #known = new Map<string, { readonly uid: string; health?: NodeHealth }>()
  readonly #zones = new Map<string, Zone>()
  #counts: readonly ZoneCount[] = []

  constructor(grace: GracePeriods, rates: EvictionRates) {
    this.#grace = grace
    this.#rates = rates
  }

  /** The nodes that are new, and the names and uids of those that have gone. */
  classify(nodes: readonly Node[]): {
    readonly added: readonly Node[]
    readonly removed: readonly { readonly name: string; readonly uid: string }[]
  } {
    const names = new Set(nodes.map(({ metadata }) => metadata.name ?? ''))
    const removed = [...this.#known].filter(([name]) => !names.has(name)).map(([name, { uid }]) => ({ name, uid }))
    for (const { name } of removed) {
      this.#known.delete(name)
      for (const { queue } of this.#zones.values()) queue.remove(name)
    }
    const added = nodes.filter(({ metadata }) => !this.#known.has(metadata.name ?? ''))
    for (const { metadata } of added) this.#known.set(metadata.name ?? '', { uid: metadata.uid ?? '' })
    return { added, removed }
  }

  /** Whether nothing was heard of a node for too long, after one more look at it. */
  isSilent(node: Node, lease: Lease | undefined, now: number): boolean {
    const known = this.#known.get(node.metadata.name ?? '')
    const health = heard(node, lease, known?.health, now)
    if (known) known.health = health
    return isSilent(health, this.#grace, now)
  }

  /** Nodes that wait for the taint that drives pods away, where this one is. */
  queueOf(node: Node): EvictionQueue {
    return this.#zone(zoneOf(node)).queue
  }

  /** All such queues, by their zones. */
  *queues(): Generator<EvictionQueue> {
    for (const { queue } of this.#zones.values()) yield queue
  }

  /** Zones as they were judged last. */
  get counts(): readonly ZoneCount[] {
    return this.#counts
  }

  #zone(name: string): Zone {
    let zone = this.#zones.get(name)
    if (!zone) {
      zone = { state: 'Initial', queue: new EvictionQueue(this.#rates.normal) }
      this.#zones.set(name, zone)
    }
    return zone
  }

  /**
   * Judges the zones by their nodes, and sets how fast pods are driven away. True if all zones have just failed: then
   * it is the control plane that sees nobody, nobody is driven away, and the taints that are there have to go.
   */
  judge(nodes: readonly Node[], now: number): boolean {
    const members = new Map<string, { ready: number; notReady: number }>()
    for (const node of nodes) {
      if (node.metadata.labels?.[excluded] !== undefined) continue
      const counts = members.get(zoneOf(node)) ?? { ready: 0, notReady: 0 }
      if (readyCondition(node)?.status === 'True') counts.ready++
      else counts.notReady++
      members.set(zoneOf(node), counts)
    }
    this.#counts = [...members].map(([name, counts]) => ({ name, ...counts }))
    for (const name of this.#zones.keys()) if (!members.has(name)) this.#zones.delete(name)
    const were = [...members.keys()].map((name) => this.#zone(name).state)
    const states = [...members].map(([name, { ready, notReady }]) => ({
      name,
      size: ready + notReady,
      state: zoneState(ready, notReady, this.#rates),
    }))
    const allFailed = states.length > 0 && states.every(({ state }) => state === 'FullDisruption')
    const allHadFailed = were.length > 0 && were.every((state) => state === 'FullDisruption')
    for (const { name, size, state } of states) {
      const zone = this.#zone(name)
      zone.state = state
      zone.queue.rate = allFailed ? 0 : evictionRate(state, size, this.#rates)
    }
    // Nothing was heard of nodes while nobody could be: they get the time to tell.
    if (allHadFailed && !allFailed) {
      for (const known of this.#known.values()) if (known.health) known.health = { ...known.health, heardAt: now }
    }
    return allFailed && !allHadFailed
  }
}
