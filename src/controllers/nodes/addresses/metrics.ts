/**
 * What is counted of the ranges that nodes get (`node_ipam_controller_*`), by the range of the cluster that they are
 * from.
 */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** How many parts of a range nodes can have, and have. */
export interface RangeUse {
  readonly range: string
  readonly most: number
  readonly taken: number
}

export class RangeMetrics {
  readonly #allocations
  readonly #releases
  readonly #tries
  #ranges: readonly RangeUse[] = []

  constructor(registry = new MetricsRegistry()) {
    const labels = ['clusterCIDR']
    const counter = (name: string, help: string) =>
      registry.counter(`node_ipam_controller_cidrset_${name}`, help, labels)
    this.#allocations = counter('cidrs_allocations_total', 'Counter measuring total number of CIDR allocations.')
    this.#releases = counter('cidrs_releases_total', 'Counter measuring total number of CIDR releases.')
    this.#tries = registry.histogram(
      'node_ipam_controller_cidrset_allocation_tries_per_request',
      'Number of endpoints added on each Service sync',
      exponentialBuckets(1, 5, 5),
      labels,
    )
    const gauge = (name: string, help: string, value: (use: RangeUse) => number): void =>
      registry.gauge(`node_ipam_controller_${name}`, help, labels, () =>
        this.#ranges.map((use) => [[use.range], value(use)]),
      )
    // Upstream's spelling.
    gauge('cirdset_max_cidrs', 'Maximum number of CIDRs that can be allocated.', ({ most }) => most)
    gauge('cidrset_usage_cidrs', 'Gauge measuring percentage of allocated CIDRs.', ({ most, taken }) => taken / most)
  }

  /** Where the ranges are. */
  follow(ranges: readonly RangeUse[]): void {
    this.#ranges = ranges
  }

  /** A part that was free is so no more; `tries` is how many were looked at, where one was looked for. */
  allocated(range: string, tries?: number): void {
    this.#allocations([range]).add()
    if (tries !== undefined) this.#tries([range]).observe(tries)
  }

  released(range: string): void {
    this.#releases([range]).add()
  }
}
