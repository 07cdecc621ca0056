/** Metrics of EndpointSlices, shared by the EndpointSlice and mirroring controllers. */
import type { EndpointSlice } from '../../../client/kinds.ts'
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { identityOf, portsKey, type SlicePlan } from './slice.ts'

/** Totals of the slices of one object. */
interface Tally {
  readonly endpoints: number
  readonly slices: number
  /** Number of slices if all were full. */
  readonly fullSlices: number
}

const perSync = exponentialBuckets(2, 2, 15)

export class SliceMetrics {
  /** Keyed by the object of the slices. */
  readonly #tallies = new Map<string, Tally>()
  readonly #added
  readonly #updated
  readonly #removed
  readonly #changes

  /** `of`: the kind in help texts. `countsUpdates`: counts updated endpoints too, as upstream does for mirroring. */
  constructor(registry: MetricsRegistry, subsystem: string, of: string, countsUpdates = false) {
    const histogram = (name: string, verb: string) =>
      registry.histogram(`${subsystem}_${name}`, `Number of endpoints ${verb} on each ${of} sync`, perSync)
    this.#added = histogram('endpoints_added_per_sync', 'added')
    this.#updated = countsUpdates ? histogram('endpoints_updated_per_sync', 'updated') : undefined
    this.#removed = histogram('endpoints_removed_per_sync', 'removed')
    const gauge = (name: string, help: string, part: keyof Tally): void =>
      registry.gauge(`${subsystem}_${name}`, help, [], () => [
        [[], [...this.#tallies.values()].reduce((sum, tally) => sum + tally[part], 0)],
      ])
    gauge('endpoints_desired', 'Number of endpoints desired', 'endpoints')
    gauge('num_endpoint_slices', 'Number of EndpointSlices', 'slices')
    gauge(
      'desired_endpoint_slices',
      'Number of EndpointSlices that would exist with perfect endpoint allocation',
      'fullSlices',
    )
    this.#changes = registry.counter(`${subsystem}_changes`, 'Number of EndpointSlice changes', ['operation'])
  }

  /** Counts a written slice. */
  countChange(operation: 'create' | 'update' | 'delete'): void {
    this.#changes([operation]).add()
  }

  /** Observes the plan for the `existing` slices of an object. `max`: maximum endpoints of a slice. */
  observePlan(
    key: string,
    existing: readonly EndpointSlice[],
    { create, update, remove, unchanged }: SlicePlan,
    max: number,
  ): void {
    const written = [...create, ...update]
    const replaced = new Set([...update, ...remove].map(({ metadata }) => metadata.name))
    const before = identities(existing.filter(({ metadata }) => replaced.has(metadata.name)))
    const after = identities(written)
    const retained = [...after].filter((identity) => before.has(identity)).length
    this.#added([]).observe(after.size - retained)
    this.#updated?.([]).observe(retained)
    this.#removed([]).observe(before.size - retained)
    this.#tallies.set(key, tallyOf([...written, ...unchanged], max))
  }

  forget(key: string): void {
    this.#tallies.delete(key)
  }
}

const sizeOf = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0

const identities = (slices: readonly EndpointSlice[]): ReadonlySet<string> =>
  new Set(
    slices.flatMap(({ addressType, endpoints }) =>
      (endpoints ?? []).map((endpoint) => `${addressType} ${identityOf(endpoint)}`),
    ),
  )

function tallyOf(slices: readonly EndpointSlice[], max: number): Tally {
  const groups = new Map<string, number>()
  for (const slice of slices) {
    const group = `${slice.addressType} ${portsKey(slice.ports)}`
    groups.set(group, (groups.get(group) ?? 0) + sizeOf(slice))
  }
  const sizes = [...groups.values()]
  return {
    endpoints: sizes.reduce((sum, size) => sum + size, 0),
    slices: slices.length,
    fullSlices: sizes.reduce((sum, size) => sum + Math.ceil(size / max), 0),
  }
}
