/** The caches and watches of all stored resources that were requested so far. */
import type { Store } from '../../../storage/store.ts'
import type { ServedResource } from '../served-resource.ts'
import { CacheCounts } from './cache-counts.ts'
import { Cacher } from './cacher.ts'
import { WatchHub } from './watch/watch-hub.ts'

type Log = (line: string) => void

/** The cache of a stored resource and its watches. */
interface CachedResource {
  readonly cacher: Cacher
  /** Created by the first watch. */
  hub: WatchHub | undefined
}

export class CachedResources {
  readonly #storeOf: (storage: ServedResource) => Store
  readonly #log: Log
  readonly #served = new Map<ServedResource, CachedResource>()
  /** Those that are no longer served: requests in progress may still need them. */
  readonly #retired = new WeakMap<ServedResource, CachedResource>()

  constructor(storeOf: (storage: ServedResource) => Store, log: Log) {
    this.#storeOf = storeOf
    this.#log = log
  }

  /** The cachers of all resources that are served. */
  *cachers(): Iterable<Cacher> {
    for (const { cacher } of this.#served.values()) yield cacher
  }

  cacher(storage: ServedResource): Cacher {
    return this.#of(storage).cacher
  }

  hub(storage: ServedResource): WatchHub {
    return (this.#of(storage).hub ??= new WatchHub(this.#log))
  }

  /** Forgets a resource; its watches continue. `refusesCreate`: the reason to deny creates that are in progress. */
  retire(storage: ServedResource, refusesCreate?: string): void {
    const { cacher } = this.#of(storage)
    cacher.retire(refusesCreate)
    this.#served.delete(storage)
    this.#retired.set(storage, { cacher, hub: undefined })
  }

  /** Ends the watches of a retired resource once they have received everything up to `revision`. Never rejects. */
  async endWatches(storage: ServedResource, revision?: number): Promise<void> {
    await this.#retired.get(storage)?.cacher.endWatches(revision)
  }

  stop(): void {
    for (const cacher of this.cachers()) cacher.stop()
  }

  #of(storage: ServedResource): CachedResource {
    let cached = this.#served.get(storage) ?? this.#retired.get(storage)
    if (!cached) this.#served.set(storage, (cached = { cacher: this.#newCacher(storage), hub: undefined }))
    return cached
  }

  #newCacher(resource: ServedResource): Cacher {
    return new Cacher({
      resource,
      store: this.#storeOf(resource),
      hints: new WeakMap(),
      counts: new CacheCounts(),
      log: this.#log,
    })
  }
}
