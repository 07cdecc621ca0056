/**
 * The registry: all served resources with their cachers and watches on one store, and the one place where objects are
 * committed.
 */

import { defaultFeatures, type FeatureGates } from '../../api/features/feature-gates.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import { resourceKey } from '../../api/resource.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { KubeObject, ObjectMeta } from '../../machinery/object.ts'
import { forbidden } from '../../machinery/status-error.ts'
import type { CommitResult, Entry, Store, Transaction } from '../../storage/store.ts'
import { CacheCounts } from './cache/cache-counts.ts'
import type { CacheView } from './cache/cache-view.ts'
import { Cacher } from './cache/cacher.ts'
import { Snapshots } from './cache/history/snapshots.ts'
import type { ChangeFeed, View } from './cache/object-change.ts'
import { WatchHub } from './cache/watch-hub.ts'
import { ConvertedFeed } from './conversion/converted-feed.ts'
import { ConvertedObjects } from './conversion/converted-objects.ts'
import type { ObjectConversion } from './conversion/object-conversion.ts'
import { readStored } from './conversion/read-stored.ts'
import { ServedResource } from './served-resource.ts'
import { encode, StoredObject, spliceRevision, summarize, summaryWith } from './stored-object.ts'
import { Turns } from './write/turns.ts'

/**
 * The reason why nothing was committed: the key has `changed` since it was read, or it has not, and another condition
 * of the transaction was `refused`.
 */
export type Lost = 'changed' | 'refused'

/** Facts that a writer knows about the object that it commits, so that they need not be computed again. */
export interface KnownFacts {
  /** True if everything but the metadata equals the live object. */
  readonly onlyMetadataChanged: boolean
  /** True if its spec has passed the validation that needs no other object. */
  readonly validSpec: boolean
}

const nothingKnown: KnownFacts = { onlyMetadataChanged: false, validSpec: false }

export class Registry {
  readonly store: Store
  readonly snapshots = new Snapshots()
  readonly turns = new Turns()
  readonly #definitions: ReadonlyMap<string, ResourceDefinition>
  readonly #served = new Map<string, ServedResource>()
  readonly #cachers = new Map<ServedResource, Cacher>()
  readonly #retired = new WeakMap<ServedResource, Cacher>()
  readonly #hubs = new WeakMap<ServedResource, WatchHub>()
  readonly #converted = new WeakMap<ServedResource, ConvertedObjects>()
  readonly #feeds = new WeakMap<ServedResource, { readonly view: CacheView; readonly feed: ConvertedFeed }>()
  readonly #views = new WeakMap<ServedResource, View>()
  readonly #versions = new WeakMap<ServedResource, ReadonlyMap<string, ServedResource>>()
  readonly #log: (line: string) => void
  readonly features: FeatureGates

  /** `definitions` are all registered ones, served or not: a served version may be stored as one that is not served. */
  constructor(
    store: Store,
    definitions: readonly ResourceDefinition[],
    log: (line: string) => void = () => {},
    features = defaultFeatures,
  ) {
    this.store = store
    this.features = features
    this.#log = log
    this.#definitions = new Map(definitions.map((definition) => [resourceKey(definition), definition]))
  }

  /** The resource of a definition, created on the first call. */
  served(definition: ResourceDefinition): ServedResource {
    const key = resourceKey(definition)
    let served = this.#served.get(key)
    if (!served) {
      const storedAs = definition.storedAs && this.#definitions.get(definition.storedAs.resource)
      if (definition.storedAs && !storedAs)
        throw new Error(`${key} is stored as ${definition.storedAs.resource}, which is not registered`)
      this.#served.set(key, (served = new ServedResource(definition, storedAs && this.served(storedAs), this.features)))
    }
    return served
  }

  /** The cachers of all resources that were requested so far. */
  cachers(): Iterable<Cacher> {
    return this.#cachers.values()
  }

  cacher({ storage }: ServedResource): Cacher {
    let cacher = this.#cachers.get(storage) ?? this.#retired.get(storage)
    if (!cacher)
      this.#cachers.set(
        storage,
        (cacher = new Cacher({
          resource: storage,
          store: this.store,
          hints: new WeakMap(),
          counts: new CacheCounts(),
          log: this.#log,
        })),
      )
    return cacher
  }

  /**
   * Forgets a resource that is no longer served; its watches continue. `refusesCreate`: the reason to deny creates that
   * are in progress.
   */
  retire(resource: ServedResource, refusesCreate?: string): void {
    const cacher = this.cacher(resource)
    cacher.retire(refusesCreate)
    this.#cachers.delete(resource.storage)
    this.#hubs.delete(resource.storage)
    // Requests in progress may still need it.
    this.#retired.set(resource.storage, cacher)
  }

  /** Ends the watches of a retired resource once they have received everything up to `revision`. Never rejects. */
  async endWatches({ storage }: ServedResource, revision?: number): Promise<void> {
    await this.#retired.get(storage)?.endWatches(revision)
  }

  hub(resource: ServedResource): WatchHub {
    // Versions that are converted asynchronously deliver at their own speed.
    const owner = resource.conversion ? resource : resource.storage
    let hub = this.#hubs.get(owner)
    if (!hub) this.#hubs.set(owner, (hub = new WatchHub(this.#log)))
    return hub
  }

  /** All versions of a resource by their names, if their fields differ: the same field may have another path then. */
  versions({ storage }: ServedResource): ReadonlyMap<string, ServedResource> | undefined {
    let versions = this.#versions.get(storage)
    if (!versions) {
      const key = resourceKey(storage.definition)
      const others = [...this.#definitions.values()].filter(({ storedAs }) => storedAs?.resource === key)
      const differ = others.some(({ storedAs }) => storedAs?.toStorage)
      versions = new Map(
        (differ ? [storage, ...others.map((definition) => this.served(definition))] : []).map((one) => [
          one.groupVersion,
          one,
        ]),
      )
      this.#versions.set(storage, versions)
    }
    return versions.size > 0 ? versions : undefined
  }

  /** Returns the function that shows stored objects as a resource does; each object is converted once. */
  view(resource: ServedResource): View {
    let view = this.#views.get(resource)
    if (!view) this.#views.set(resource, (view = this.#conversions(resource)?.view ?? viewOf(resource)))
    return view
  }

  /**
   * Converts stored objects, if the resource needs that, so that they can be viewed. Rejects with a StatusError if one
   * cannot be converted.
   */
  prepare(resource: ServedResource, objects: () => readonly StoredObject[]): Promise<void> | undefined {
    return this.#conversions(resource)?.prepare(objects())
  }

  /** The source of changes for watches that have received everything up to `revision`. */
  feed(resource: ServedResource, view: CacheView, revision: number): ChangeFeed {
    const conversions = this.#conversions(resource)
    if (!conversions) return view
    const known = this.#feeds.get(resource)
    if (known && known.view === view && !known.feed.hasEnded) return known.feed
    const feed = new ConvertedFeed(view, (objects) => conversions.prepare(objects), revision)
    this.#feeds.set(resource, { view, feed })
    return feed
  }

  #conversions(resource: ServedResource): ConvertedObjects | undefined {
    if (!resource.conversion) return undefined
    let conversions = this.#converted.get(resource)
    if (!conversions) this.#converted.set(resource, (conversions = new ConvertedObjects(resource, resource.conversion)))
    return conversions
  }

  /** A stored object as the resource shows it, converted first if the resource needs that. */
  #shown(resource: ServedResource, object: StoredObject): StoredObject | Promise<StoredObject> {
    const view = this.view(resource)
    return resource.conversion
      ? this.#conversions(resource)!
          .prepare([object])
          .then(() => view(object))
      : view(object)
  }

  /**
   * The current object, as the resource shows it. A promise only while the resource's objects are being loaded, or if
   * it has to be converted.
   */
  get(resource: ServedResource, key: string): StoredObject | undefined | Promise<StoredObject | undefined> {
    const cacher = this.cacher(resource)
    const cache = cacher.live
    if (!cache) return cacher.ready().then(() => this.get(resource, key))
    const object = cache.objects.get(key)
    return object && this.#shown(resource, object)
  }

  /** The object as the store has it, for a caller that has learnt that the one in memory is outdated. */
  async newest(resource: ServedResource, key: string): Promise<StoredObject | undefined> {
    const { storage } = resource
    const asked = performance.now()
    const entry = await this.store.get(key)
    this.cacher(resource).counts.observeStoreRequest('get', asked)
    if (!entry) return undefined
    return this.#shown(resource, readStored(storage, key, entry.value, entry.revision))
  }

  /** Commits an object in place of `live`, or creates it. */
  put(
    resource: ServedResource,
    key: string,
    object: KubeObject,
    live: StoredObject | undefined,
    known = nothingKnown,
  ): Promise<StoredObject | Lost> {
    const { storage, conversion } = resource
    if (conversion) return this.#putConverted(resource, conversion, key, object, live)
    if (storage !== resource) {
      const stored = toStorage(resource, object)
      return this.#putStored(resource, key, object, stored, encode(storage, stored), live, false)
    }
    const value = encode(resource, object, known.onlyMetadataChanged && !live?.outdated ? live : undefined)
    return this.#putStored(resource, key, object, object, value, live, known.validSpec)
  }

  /** Commits `live` with other metadata. */
  putMetadata(
    resource: ServedResource,
    key: string,
    metadata: ObjectMeta,
    live: StoredObject,
  ): Promise<StoredObject | Lost> {
    if (!isStoredUnchanged(resource, live)) return this.put(resource, key, { ...live.parse(), metadata }, live)
    const value = encode(resource, { kind: '', apiVersion: '', metadata }, live)
    this.cacher(resource).hints.set(value, { summary: summaryWith(metadata, live.summary), validSpec: live.validSpec })
    const { revision } = live
    return this.#written(
      resource,
      key,
      value,
      revision,
      this.store.commit({ conditions: [{ key, revision }], operations: [{ key, value }] }),
    )
  }

  /**
   * Commits `live` with its last metadata, then removes it: watches see both changes, as upstream. Returns it as it was
   * removed.
   */
  async putAndRemove(
    resource: ServedResource,
    key: string,
    metadata: ObjectMeta,
    live: StoredObject,
  ): Promise<StoredObject | Lost> {
    const last = await this.putMetadata(resource, key, metadata, live)
    if (typeof last === 'string') return last
    const removed = await this.remove(resource, key, last.revision)
    if (typeof removed !== 'string') return last.at(removed)
    // A controller may have removed it in the meantime.
    return (await this.newest(resource, key)) ? removed : last
  }

  /** Returns `live` if the store holds an equal value: the webhook decides whether two versions show it alike. */
  async #putConverted(
    resource: ServedResource,
    conversion: ObjectConversion,
    key: string,
    object: KubeObject,
    live: StoredObject | undefined,
  ): Promise<StoredObject | Lost> {
    const { storage } = resource
    const stored = storage === resource ? object : await conversion.toStorage(object)
    const value = encode(storage, stored)
    const base = live?.base ?? live
    if (live && base && !base.outdated && isSame(base, value)) return live
    return this.#putStored(resource, key, object, stored, value, live, false)
  }

  /** `value` is the encoded `stored`; `object` is the same in the resource's version. */
  #putStored(
    resource: ServedResource,
    key: string,
    object: KubeObject,
    stored: KubeObject,
    value: Buffer,
    live: StoredObject | undefined,
    validSpec: boolean,
  ): Promise<StoredObject | Lost> {
    const { storage } = resource
    const cacher = this.cacher(resource)
    if (!live && cacher.refusesCreate)
      throw forbidden(resource.groupResource, object.metadata.name ?? '', cacher.refusesCreate)
    cacher.hints.set(value, { summary: summarize(storage, stored), validSpec })
    const revision = live?.revision ?? 0
    return this.#written(
      resource,
      key,
      value,
      revision,
      this.#commit(storage, key, object, { conditions: [{ key, revision }], operations: [{ key, value }] }),
    )
  }

  /** The result of a write, as the resource shows it. Holds no reference to the encoded object while it waits. */
  async #written(
    resource: ServedResource,
    key: string,
    value: Buffer,
    expected: number,
    commit: Promise<CommitResult>,
  ): Promise<StoredObject | Lost> {
    const { storage } = resource
    const cacher = this.cacher(resource)
    const asked = performance.now()
    const result = await commit
    cacher.counts.observeStoreRequest(expected === 0 ? 'create' : 'update', asked)
    if (!result.committed) return lost(result.current[0], expected)
    const current = cacher.live?.objects.get(key)
    return this.#shown(
      resource,
      current?.revision === result.revision
        ? current
        : new StoredObject(storage, key, result.revision, spliceRevision(storage, value, result.revision)),
    )
  }

  /** Removes an object if the key is at `revision`. Returns the revision of the removal. */
  async remove(resource: ServedResource, key: string, revision: number): Promise<number | Lost> {
    const { storage } = resource
    const asked = performance.now()
    const result = await this.#commit(storage, key, undefined, {
      conditions: [{ key, revision }],
      operations: [{ key, delete: true }],
    })
    this.cacher(resource).counts.observeStoreRequest('delete', asked)
    return result.committed ? result.revision : lost(result.current[0], revision)
  }

  #commit(
    { writeHook }: ServedResource,
    key: string,
    object: KubeObject | undefined,
    own: Transaction,
  ): Promise<CommitResult> {
    if (!writeHook) return this.store.commit(own)
    return writeHook.alongside(key, object).then(({ conditions, operations }) =>
      this.store.commit({
        conditions: [...own.conditions, ...conditions],
        operations: [...own.operations, ...operations],
      }),
    )
  }

  stop(): void {
    for (const cacher of this.#cachers.values()) cacher.stop()
  }
}

/** True if the store holds a resource's objects as it shows them, and nothing else is written along with them. */
const isStoredUnchanged = (resource: ServedResource, live: StoredObject): boolean =>
  resource.storage === resource && !resource.conversion && !resource.writeHook && !live.outdated

const lost = (current: Entry | undefined, expected: number): Lost =>
  (current?.revision ?? 0) === expected ? 'refused' : 'changed'

/** True if `bytes`, which lack a resourceVersion, equal `live`. The webhook decides the order of members. */
function isSame(live: StoredObject, bytes: Buffer): boolean {
  // The same members are equally long in any order.
  if (live.size !== bytes.length + `"resourceVersion":"${live.revision}",`.length) return false
  const next = spliceRevision(live.resource, bytes, live.revision)
  return next.equals(live.bytes) || jsonEqual(parseJson(next.toString()), live.parse())
}

function toStorage(resource: ServedResource, object: KubeObject): KubeObject {
  const stored = resource.definition.storedAs?.toStorage?.(structuredClone(object)) ?? { ...object }
  stored.apiVersion = resource.storage.groupVersion
  stored.kind = resource.storage.definition.kind
  return stored
}

function viewOf(resource: ServedResource): View {
  if (resource.storage === resource) return (object) => object
  const converted = new WeakMap<StoredObject, StoredObject>()
  return (object) => {
    let view = converted.get(object)
    if (!view) {
      const parsed = object.parse()
      const shown = resource.definition.storedAs?.fromStorage?.(parsed) ?? parsed
      shown.apiVersion = resource.groupVersion
      shown.kind = resource.definition.kind
      view = new StoredObject(
        resource,
        object.key,
        object.revision,
        spliceRevision(resource, encode(resource, shown), object.revision),
        summarize(resource, shown),
      )
      view.outdated = object.outdated
      converted.set(object, view)
    }
    return view
  }
}
