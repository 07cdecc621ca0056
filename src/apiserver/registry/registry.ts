/** The registry: all served resources with their caches and watches on one store, and the commits of their objects. */

import { defaultFeatures, type FeatureGates } from '../../api/features/feature-gates.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import { type Clock, systemClock } from '../../lib/clock/clock.ts'
import { after } from '../../lib/flow/after.ts'
import type { Store } from '../../storage/store.ts'
import { CachedResources } from './cache/cached-resources.ts'
import { type Cacher, RetiredError, StaleCacheError } from './cache/cacher.ts'
import { Snapshots } from './cache/history/snapshots.ts'
import type { WatchHub } from './cache/watch/watch-hub.ts'
import { readStored } from './conversion/read-stored.ts'
import { VersionView } from './conversion/version-view.ts'
import { ResourceCatalog } from './resource-catalog.ts'
import type { ServedResource } from './served-resource.ts'
import type { StoredObject } from './stored-object.ts'
import { Commits } from './write/commits.ts'
import { Turns } from './write/turns.ts'

type Log = (line: string) => void

/** Returns the store of a resource that is not in the common one. */
export type OtherStores = (storage: ServedResource) => Store | undefined

export class Registry {
  /** The store of all resources but those that have another one. */
  readonly store: Store
  readonly features: FeatureGates
  /** The time of objects. */
  readonly clock: Clock
  readonly snapshots = new Snapshots()
  readonly turns = new Turns()
  readonly commits = new Commits(this)
  readonly #otherStores: OtherStores
  readonly #log: Log
  readonly #catalog: ResourceCatalog
  readonly #cached: CachedResources
  readonly #views = new WeakMap<ServedResource, VersionView>()

  /** `definitions` are all registered ones, served or not: a served version may be stored as one that is not served. */
  constructor(
    store: Store,
    definitions: readonly ResourceDefinition[],
    log: Log = () => {},
    features: FeatureGates = defaultFeatures,
    otherStores: OtherStores = () => undefined,
    clock: Clock = systemClock,
  ) {
    this.store = store
    this.clock = clock
    this.#otherStores = otherStores
    this.features = features
    this.#log = log
    this.#catalog = new ResourceCatalog(definitions, features)
    this.#cached = new CachedResources((storage) => this.storeOf(storage), log)
  }

  /** The resource of a definition, created on the first call. */
  served(definition: ResourceDefinition): ServedResource {
    return this.#catalog.served(definition)
  }

  /** The store that has the objects of a resource. */
  storeOf({ storage }: ServedResource): Store {
    return this.#otherStores(storage) ?? this.store
  }

  /** All versions of a resource by their names, if their fields differ: the same field may have another path then. */
  versions(resource: ServedResource): ReadonlyMap<string, ServedResource> | undefined {
    return this.#catalog.versions(resource)
  }

  /** The cachers of all resources that were requested so far. */
  cachers(): Iterable<Cacher> {
    return this.#cached.cachers()
  }

  cacher({ storage }: ServedResource): Cacher {
    return this.#cached.cacher(storage)
  }

  /** The watches of a resource; all versions share them, but for those that a webhook converts. */
  hub(resource: ServedResource): WatchHub {
    return this.view(resource).hub ?? this.#cached.hub(resource.storage)
  }

  /** How a resource shows stored objects. */
  view(resource: ServedResource): VersionView {
    let view = this.#views.get(resource)
    if (!view) this.#views.set(resource, (view = new VersionView(resource, this.#log)))
    return view
  }

  /**
   * Forgets a resource that is no longer served; its watches continue. `refusesCreate`: the reason to deny creates that
   * are in progress.
   */
  retire({ storage }: ServedResource, refusesCreate?: string): void {
    this.#cached.retire(storage, refusesCreate)
  }

  /** Ends the watches of a retired resource once they have received everything up to `revision`. Never rejects. */
  endWatches({ storage }: ServedResource, revision?: number): Promise<void> {
    return this.#cached.endWatches(storage, revision)
  }

  /**
   * The current object, as the resource shows it. A promise only while the resource's objects are being loaded, or if
   * it has to be converted.
   */
  get(resource: ServedResource, key: string): StoredObject | undefined | Promise<StoredObject | undefined> {
    const cacher = this.cacher(resource)
    const cache = cacher.live
    if (!cache)
      return cacher.ready().then(
        () => this.get(resource, key),
        // One unreadable object must not make the others unreadable.
        (error) => (error instanceof RetiredError ? Promise.reject(error) : this.newest(resource, key)),
      )
    const object = cache.objects.get(key)
    return object && this.view(resource).shown(object)
  }

  /**
   * The object after all writes that were acknowledged before the call, those of other servers of the store included.
   * Their writes reach this server's cache a little later; it shows its own writes at once.
   */
  current(resource: ServedResource, key: string): StoredObject | undefined | Promise<StoredObject | undefined> {
    if (!this.storeOf(resource).isShared) return this.get(resource, key)
    return this.cacher(resource)
      .consistent()
      .then(
        () => this.get(resource, key),
        (error) => {
          if (error instanceof StaleCacheError) return this.newest(resource, key)
          throw error
        },
      )
  }

  /** The object as the store has it, for a caller that has learnt that the one in memory is outdated. */
  async newest(resource: ServedResource, key: string): Promise<StoredObject | undefined> {
    const entry = await this.cacher(resource).counts.measured('get', this.storeOf(resource).get(key))
    return entry && this.view(resource).shown(readStored(resource.storage, key, entry.value, entry.revision))
  }

  /**
   * The object in memory, or that of the store if memory does not have it: another server may have just created it. For
   * reads that may be a little behind.
   */
  lookUp(resource: ServedResource, key: string): StoredObject | undefined | Promise<StoredObject | undefined> {
    return after(this.get(resource, key), (found) => found ?? this.newest(resource, key))
  }

  stop(): void {
    this.#cached.stop()
  }
}
