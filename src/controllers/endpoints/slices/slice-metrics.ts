/**
 * What is counted of EndpointSlices: by the controller of Services (`endpoint_slice_controller_*`), and by the one that
 * mirrors Endpoints.
 */
import type { EndpointSlice } from '../../../client/kinds.ts'
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { identityOf, portsKey, type SlicePlan } from './slice.ts'

/** What the slices of one object come to. */
interface Tally {
  readonly endpoints: number
  readonly slices: number
  /** If all of them were as full as they may be. */
  readonly fullSlices: number
}

const perSync = exponentialBuckets(2, 2, 15)

export class SliceMetrics {
  /** By the key of what the slices are for. */
  readonly #tallies = new Map<string, Tally>()
  readonly #added
  readonly #updated
  readonly #removed
  readonly #changes

  /** `of`: whose syncs they are. Updated endpoints are counted where upstream does it. */
  constructor(registry: MetricsRegistry, subsystem: string, of: string, countsUpdates = false) {
    const histogram = (name: string, what: string) =>
      registry.histogram(`${subsystem}_${name}`, `Number of endpoints ${what} on each ${of} sync`, perSync)
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

  /** One slice was written. */
  changed(operation: 'create' | 'update' | 'delete'): void {
    this.#changes([operation]).add()
  }

  /** Slices of an object were looked at: `existing` became what `plan` says; at most `max` endpoints are in one. */
  planned(
    key: string,
    existing: readonly EndpointSlice[],
    { create, update, remove, unchanged }: SlicePlan,
    max: number,
  ): void {
    const written = [...create, ...update]
    const goes = new Set([...update, ...remove].map(({ metadata }) => metadata.name))
    const before = identities(existing.filter(({ metadata }) => goes.has(metadata.name)))
    const after = identities(written)
    const kept = [...after].filter((identity) => before.has(identity)).length
    this.#added([]).observe(after.size - kept)
    this.#updated?.([]).observe(kept)
    this.#removed([]).observe(before.size - kept)
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
