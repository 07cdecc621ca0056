/**
 * Writes slices and tracks writes that the cache does not contain yet: a decision based on a stale cache would create a
 * slice twice.
 */
import { type Caches, type ReconcileContext, type WatchedKind, watch } from '../../../client/controller/controller.ts'
import { type EndpointSlice, endpointSlices } from '../../../client/kinds.ts'
import { isNotFound } from '../../api-errors.ts'
import type { Enqueue } from '../batching.ts'
import { byService, managerOf, type SlicePlan } from './slice.ts'
import type { SliceMetrics } from './slice-metrics.ts'

/** The expected version of a deleted slice. */
const deleted = ''

const isAtLeast = (version: string, expected: string): boolean => BigInt(version || '0') >= BigInt(expected || '0')

export class SliceWriter {
  readonly #manager: string
  readonly #enqueue: Enqueue
  readonly #metrics: SliceMetrics
  /** The version to observe, by Service key and slice name. */
  readonly #outstanding = new Map<string, Map<string, string>>()
  /** Keys that were reconciled while writes were outstanding. */
  readonly #deferred = new Set<string>()

  /** Handles the slices of `manager`; calls `enqueue` with keys whose slices others have changed. */
  constructor(manager: string, enqueue: Enqueue, metrics: SliceMetrics) {
    this.#manager = manager
    this.#enqueue = enqueue
    this.#metrics = metrics
  }

  /** The managed slices of a Service; undefined if the cache is stale: then the key is enqueued later. */
  slices(key: string, caches: Caches): readonly EndpointSlice[] | undefined {
    if (this.#outstanding.has(key)) {
      this.#deferred.add(key)
      return undefined
    }
    return [...caches.by(endpointSlices, byService, key)].filter((slice) => managerOf(slice) === this.#manager)
  }

  /** Carries out a plan. */
  async apply(key: string, { create, update, remove }: SlicePlan, { client, caches }: ReconcileContext): Promise<void> {
    for (const slice of create) {
      this.#expect(key, await client.create(endpointSlices, slice), caches)
      this.#metrics.countChange('create')
    }
    for (const slice of update) {
      this.#expect(key, await client.update(endpointSlices, slice), caches)
      this.#metrics.countChange('update')
    }
    for (const { metadata } of remove) {
      const { namespace = '', name = '', uid } = metadata
      await client.delete(endpointSlices, namespace, name, { uid }).catch((error) => {
        if (!isNotFound(error)) throw error
      })
      this.#metrics.countChange('delete')
      if (caches.get(endpointSlices, namespace, name)?.metadata.uid === uid) this.#outstandingOf(key).set(name, deleted)
    }
  }

  forget(key: string): void {
    this.#metrics.forget(key)
    this.#outstanding.delete(key)
    this.#deferred.delete(key)
  }

  /** The watch by which own writes and foreign changes are observed. */
  get sliceWatch(): WatchedKind {
    return watch({
      resource: endpointSlices,
      keys: () => [],
      onChange: (slice, old, context) => this.#observe(slice, old, context),
    })
  }

  #outstandingOf(key: string): Map<string, string> {
    const known = this.#outstanding.get(key) ?? new Map<string, string>()
    this.#outstanding.set(key, known)
    return known
  }

  #expect(
    key: string,
    { metadata: { namespace = '', name = '', resourceVersion = '' } }: EndpointSlice,
    caches: Caches,
  ): void {
    const seen = caches.get(endpointSlices, namespace, name)?.metadata.resourceVersion
    if (seen === undefined || !isAtLeast(seen, resourceVersion)) this.#outstandingOf(key).set(name, resourceVersion)
  }

  #observe(slice: EndpointSlice | undefined, old: EndpointSlice | undefined, context: ReconcileContext): void {
    const keys = new Set(
      [slice, old].flatMap((state) => (state && managerOf(state) === this.#manager ? byService(state) : [])),
    )
    const { name = '', resourceVersion = '' } = (slice ?? old)?.metadata ?? {}
    for (const key of keys) {
      const outstanding = this.#outstanding.get(key)
      const expected = outstanding?.get(name)
      const isMine = expected !== undefined && (slice ? resourceVersion === expected : expected === deleted)
      if (!isMine) this.#enqueue(key, context)
      if (!outstanding || expected === undefined) continue
      // A slice that others have deleted is no longer outstanding.
      if (!slice || (expected !== deleted && isAtLeast(resourceVersion, expected))) outstanding.delete(name)
      if (outstanding.size > 0) continue
      this.#outstanding.delete(key)
      if (this.#deferred.delete(key)) this.#enqueue(key, context)
    }
  }
}
