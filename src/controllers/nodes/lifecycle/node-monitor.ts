/** State of nodes and zones between two checks of all nodes. */
import type { Lease, Node } from '../../../client/kinds.ts'
import { type GracePeriods, isSilent, type NodeHealth, observedHealth, readyCondition } from './health.ts'
import { EvictionQueue, type EvictionRates, evictionRate, type ZoneState, zoneOf, zoneState } from './zones.ts'

/** Numbers of ready and unready nodes of a zone. */
export interface ZoneCount {
  readonly name: string
  readonly ready: number
  readonly notReady: number
}

interface Zone {
  state: ZoneState
  readonly queue: EvictionQueue
}

/** Nodes with this label do not count in the state of zones. */
const excludedLabel = 'node.kubernetes.io/exclude-disruption'

export class NodeMonitor {
  readonly #grace: GracePeriods
  readonly #rates: EvictionRates
  readonly #known = new Map<string, { readonly uid: string; health?: NodeHealth }>()
  readonly #zones = new Map<string, Zone>()
  #counts: readonly ZoneCount[] = []

  constructor(grace: GracePeriods, rates: EvictionRates) {
    this.#grace = grace
    this.#rates = rates
  }

  /** Returns the added nodes, and names and uids of the removed ones. */
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

  /** Checks a node; returns true if it has not reported within its grace period. */
  isSilent(node: Node, lease: Lease | undefined, now: number): boolean {
    const known = this.#known.get(node.metadata.name ?? '')
    const health = observedHealth(node, lease, known?.health, now)
    if (known) known.health = health
    return isSilent(health, this.#grace, now)
  }

  /** The queue of nodes to evict in the node's zone. */
  queueOf(node: Node): EvictionQueue {
    return this.#zone(zoneOf(node)).queue
  }

  /** The queues of all zones. */
  *queues(): Generator<EvictionQueue> {
    for (const { queue } of this.#zones.values()) yield queue
  }

  /** The zones at the last `updateZones`. */
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
   * Updates the state and eviction rate of all zones. Returns true if all zones have just failed: then the control
   * plane is probably disconnected, so evictions stop and existing NoExecute taints must be removed.
   */
  updateZones(nodes: readonly Node[], now: number): boolean {
    const members = new Map<string, { ready: number; notReady: number }>()
    for (const node of nodes) {
      if (node.metadata.labels?.[excludedLabel] !== undefined) continue
      const counts = members.get(zoneOf(node)) ?? { ready: 0, notReady: 0 }
      if (readyCondition(node)?.status === 'True') counts.ready++
      else counts.notReady++
      members.set(zoneOf(node), counts)
    }
    this.#counts = [...members].map(([name, counts]) => ({ name, ...counts }))
    for (const name of this.#zones.keys()) if (!members.has(name)) this.#zones.delete(name)
    const previous = [...members.keys()].map((name) => this.#zone(name).state)
    const states = [...members].map(([name, { ready, notReady }]) => ({
      name,
      size: ready + notReady,
      state: zoneState(ready, notReady, this.#rates),
    }))
    const allFailed = states.length > 0 && states.every(({ state }) => state === 'FullDisruption')
    const allHadFailed = previous.length > 0 && previous.every((state) => state === 'FullDisruption')
    for (const { name, size, state } of states) {
      const zone = this.#zone(name)
      zone.state = state
      zone.queue.rate = allFailed ? 0 : evictionRate(state, size, this.#rates)
    }
    // Nodes could not report during the disruption: they get a new grace period.
    if (allHadFailed && !allFailed) {
      for (const known of this.#known.values()) if (known.health) known.health = { ...known.health, lastChangeAt: now }
    }
    return allFailed && !allHadFailed
  }
}
