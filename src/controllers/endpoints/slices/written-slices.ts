/**
 * What a controller has written and not seen yet. It reads from memory, which is behind what it writes: whoever decides
 * too early creates a slice that is there already.
 */
import { type Caches, type ReconcileContext, type WatchedKind, watch } from '../../../client/controller/controller.ts'
import { type EndpointSlice, endpointSlices } from '../../../client/kinds.ts'
import { isNotFound } from '../../api-errors.ts'
import type { Notice } from '../batches.ts'
import { byService, managerOf, type SlicePlan } from './slice.ts'
import type { SliceMetrics } from './slice-metrics.ts'

/** An absent slice has no version. */
const gone = ''

const isAtLeast = (version: string, wanted: string): boolean => BigInt(version || '0') >= BigInt(wanted || '0')

export class WrittenSlices {
  readonly #manager: string
  readonly #notice: Notice
  readonly #metrics: SliceMetrics
  /** By the key of the Service and the name of the slice: the version that has to be seen. */
  readonly #awaited = new Map<string, Map<string, string>>()
  /** Keys that were looked at too early. */
  readonly #early = new Set<string>()

  /** Knows the slices that `manager` keeps; `notice` is told of keys whose slices others have changed. */
  constructor(manager: string, notice: Notice, metrics: SliceMetrics) {
    this.#manager = manager
    this.#notice = notice
    this.#metrics = metrics
  }

  /**
   * The slices of a Service that are kept; undefined where memory is behind: the key is looked at again when it is not.
   */
  of(key: string, caches: Caches): readonly EndpointSlice[] | undefined {
    if (this.#awaited.has(key)) {
      this.#early.add(key)
      return undefined
    }
    return [...caches.by(endpointSlices, byService, key)].filter((slice) => managerOf(slice) === this.#manager)
  }

  /** Creates, updates and deletes. */
  async carryOut(
    key: string,
    { create, update, remove }: SlicePlan,
    { client, caches }: ReconcileContext,
  ): Promise<void> {
    for (const slice of create) {
      this.#await(key, await client.create(endpointSlices, slice), caches)
      this.#metrics.changed('create')
    }
    for (const slice of update) {
      this.#await(key, await client.update(endpointSlices, slice), caches)
      this.#metrics.changed('update')
    }
    for (const { metadata } of remove) {
      const { namespace = '', name = '', uid } = metadata
      await client.delete(endpointSlices, namespace, name, { uid }).catch((error) => {
        if (!isNotFound(error)) throw error
      })
      this.#metrics.changed('delete')
      if (caches.get(endpointSlices, namespace, name)?.metadata.uid === uid) this.#awaitedOf(key).set(name, gone)
    }
  }

  forget(key: string): void {
    this.#metrics.forget(key)
    this.#awaited.delete(key)
    this.#early.delete(key)
  }

  /** What the controller watches to know what has come. */
  get watched(): WatchedKind {
    return watch({
      resource: endpointSlices,
      keys: () => [],
      onChange: (slice, before, context) => this.#seen(slice, before, context),
    })
  }

  #awaitedOf(key: string): Map<string, string> {
    const known = this.#awaited.get(key) ?? new Map<string, string>()
    this.#awaited.set(key, known)
    return known
  }

  #await(
    key: string,
    { metadata: { namespace = '', name = '', resourceVersion = '' } }: EndpointSlice,
    caches: Caches,
  ): void {
    const seen = caches.get(endpointSlices, namespace, name)?.metadata.resourceVersion
    if (seen === undefined || !isAtLeast(seen, resourceVersion)) this.#awaitedOf(key).set(name, resourceVersion)
  }

  #seen(slice: EndpointSlice | undefined, before: EndpointSlice | undefined, context: ReconcileContext): void {
    const keys = new Set(
      [slice, before].flatMap((state) => (state && managerOf(state) === this.#manager ? byService(state) : [])),
    )
    const { name = '', resourceVersion = '' } = (slice ?? before)?.metadata ?? {}
    for (const key of keys) {
      const awaited = this.#awaited.get(key)
      const wanted = awaited?.get(name)
      const isMine = wanted !== undefined && (slice ? resourceVersion === wanted : wanted === gone)
      if (!isMine) this.#notice(key, context)
      if (!awaited || wanted === undefined) continue
      // A slice that others have deleted is not waited for.
      if (!slice || (wanted !== gone && isAtLeast(resourceVersion, wanted))) awaited.delete(name)
      if (awaited.size > 0) continue
      this.#awaited.delete(key)
      if (this.#early.delete(key)) this.#notice(key, context)
    }
  }
}
