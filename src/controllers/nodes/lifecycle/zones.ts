/**
 * Zones of nodes: where many fail at once, it is the network or the zone, and pods are driven away slower or not at
 * all.
 */
import type { Node } from '../../../client/kinds.ts'

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption'

export interface EvictionRates {
  /** Nodes a second (`--node-eviction-rate`). */
  readonly normal: number
  /** Nodes a second in large zones of which a part is down (`--secondary-node-eviction-rate`). */
  readonly secondary: number
  /** The share of nodes that have to be down for that (`--unhealthy-zone-threshold`). */
  readonly unhealthyShare: number
  /** More nodes than this make a zone large (`--large-cluster-size-threshold`). */
  readonly largeSize: number
}

/** Below so many nodes that are down, a zone is not disrupted by half. */
const leastUnhealthy = 3

/** Region and zone of a node, as metrics have them; empty if it has neither. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? ''
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? ''
  return region || zone ? `${region}:\0:${zone}` : ''
}

/** The state of a zone, of which so many nodes are ready and not. */
export function zoneState(
  ready: number,
  notReady: number,
  { unhealthyShare }: Pick<EvictionRates, 'unhealthyShare'>,
): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption'
  return notReady >= leastUnhealthy && notReady / (notReady + ready) >= unhealthyShare ? 'PartialDisruption' : 'Normal'
}

/** How many nodes a second are given the taint that drives pods away. */
export function evictionRate(state: ZoneState, size: number, { normal, secondary, largeSize }: EvictionRates): number {
  if (state !== 'PartialDisruption') return normal
  return size > largeSize ? secondary : 0
}

/** Nodes of a zone that wait for that taint, at a rate. */
export class EvictionQueue {
  readonly #waiting = new Set<string>()
  #perSecond: number
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  set rate(perSecond: number) {
    this.#perSecond = perSecond
  }

  add(node: string): void {
    this.#waiting.add(node)
  }

  remove(node: string): void {
    this.#waiting.delete(node)
  }

  /** In how many ms the next one may be taken; undefined if nobody waits or nobody may be taken. */
  nextInMs(now: number): number | undefined {
    if (this.#waiting.size === 0 || this.#perSecond <= 0) return undefined
    return Math.max(0, this.#lastAt + 1000 / this.#perSecond - now)
  }

  /** The next node, if one may be taken now. */
  take(now: number): string | undefined {
    if (this.nextInMs(now) !== 0) return undefined
    const [node] = this.#waiting
    this.#waiting.delete(node!)
    this.#lastAt = now
    return node
  }
}
