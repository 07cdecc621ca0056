/** Metrics of node address ranges (`node_ipam_controller_*`), by cluster range. */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** The number of subranges of a cluster range, and of taken ones. */
export interface RangeUse {
  readonly range: string
  readonly capacity: number
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
    gauge('cirdset_max_cidrs', 'Maximum number of CIDRs that can be allocated.', ({ capacity }) => capacity)
    gauge(
      'cidrset_usage_cidrs',
      'Gauge measuring percentage of allocated CIDRs.',
      ({ capacity, taken }) => taken / capacity,
    )
  }

  /** Sets the ranges that the gauges read. */
  setRanges(ranges: readonly RangeUse[]): void {
    this.#ranges = ranges
  }

  /** Counts the allocation of a subrange; `tries` is the number of taken ones skipped in a search. */
  countAllocation(range: string, tries?: number): void {
    this.#allocations([range]).add()
    if (tries !== undefined) this.#tries([range]).observe(tries)
  }

  countRelease(range: string): void {
    this.#releases([range]).add()
  }
}
