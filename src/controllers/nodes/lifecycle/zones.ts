/** Zones of nodes: if many nodes of a zone fail together, evictions slow down or stop. */
import type { Node } from '../../../client/kinds.ts'

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption'

export interface EvictionRates {
  /** Nodes per second (`--node-eviction-rate`). */
  readonly normal: number
  /** Nodes per second in large, partially disrupted zones (`--secondary-node-eviction-rate`). */
  readonly secondary: number
  /** Share of unready nodes that makes a zone partially disrupted (`--unhealthy-zone-threshold`). */
  readonly unhealthyShare: number
  /** Number of nodes above which a zone is large (`--large-cluster-size-threshold`). */
  readonly largeSize: number
}

/** Minimum number of unready nodes of a partially disrupted zone. */
const minUnhealthy = 3

/** Region and zone of a node in the format of metrics; empty if it has neither. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? ''
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? ''
  return region || zone ? `${region}:\0:${zone}` : ''
}

/** The state of a zone from its numbers of ready and unready nodes. */
export function zoneState(
  ready: number,
  notReady: number,
  { unhealthyShare }: Pick<EvictionRates, 'unhealthyShare'>,
): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption'
  return notReady >= minUnhealthy && notReady / (notReady + ready) >= unhealthyShare ? 'PartialDisruption' : 'Normal'
}

/** Number of nodes per second that get the NoExecute taint. */
export function evictionRate(state: ZoneState, size: number, { normal, secondary, largeSize }: EvictionRates): number {
  if (state !== 'PartialDisruption') return normal
  return size > largeSize ? secondary : 0
}

/** Rate-limited queue of a zone's nodes that await the NoExecute taint. */
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

  /** Time in ms until the next node may be taken; undefined if the queue is empty or the rate is 0. */
  nextInMs(now: number): number | undefined {
    if (this.#waiting.size === 0 || this.#perSecond <= 0) return undefined
    return Math.max(0, this.#lastAt + 1000 / this.#perSecond - now)
  }

  /** Takes the next node if the rate allows it now. */
  take(now: number): string | undefined {
    if (this.nextInMs(now) !== 0) return undefined
    const [node] = this.#waiting
    this.#waiting.delete(node!)
    this.#lastAt = now
    return node
  }
}
