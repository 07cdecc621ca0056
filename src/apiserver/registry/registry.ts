/**
 * The registry: all served resources with their cachers and watches on one store, and the one place where objects are
 * committed.
 */
import type { ResourceDefinition } from '../../api/resource.ts'
import { resourceKey } from '../../api/resource.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { CommitResult, Entry, Store, Transaction } from '../../storage/store.ts'
import { Cacher } from './cache/cacher.ts'
import type { View } from './cache/object-change.ts'
import { Snapshots } from './cache/snapshots.ts'
import { WatchHub } from './cache/watch-hub.ts'
import { ServedResource } from './served-resource.ts'
import { encode, StoredObject, type Summary, spliceRevision, summarize } from './stored-object.ts'
import { Turns } from './write/turns.ts'

/** Why nothing was committed: the key has `changed` since it was read, or it has not, and another condition was `refused`. */
export type Lost = 'changed' | 'refused'

export class Registry {
  readonly store: Store
  readonly snapshots = new Snapshots()
  readonly turns = new Turns()
  readonly #definitions: ReadonlyMap<string, ResourceDefinition>
  readonly #served = new Map<string, ServedResource>()
  readonly #cachers = new Map<ServedResource, Cacher>()
  readonly #retired = new WeakMap<ServedResource, Cacher>()
  readonly #hubs = new Map<ServedResource, WatchHub>()
  readonly #views = new WeakMap<ServedResource, View>()
  readonly #versions = new WeakMap<ServedResource, ReadonlyMap<string, ServedResource>>()
  readonly #hints = new WeakMap<Buffer, Summary>()
  readonly #log: (line: string) => void

  /** `definitions` are all that are registered, served or not: a served version may be stored as one that is off. */
  constructor(store: Store, definitions: readonly ResourceDefinition[], log: (line: string) => void = () => {}) {
    this.store = store
    this.#log = log
    this.#definitions = new Map(definitions.map((definition) => [resourceKey(definition), definition]))
  }

  /** The resource of a definition, made when first asked for. */
  served(definition: ResourceDefinition): ServedResource {
    const key = resourceKey(definition)
    let served = this.#served.get(key)
    if (!served) {
      const storedAs = definition.storedAs && this.#definitions.get(definition.storedAs.resource)
      if (definition.storedAs && !storedAs) throw new Error(`${key} is stored as ${definition.storedAs.resource}, which is not registered`)
      this.#served.set(key, (served = new ServedResource(definition, storedAs && this.served(storedAs))))
    }
    return served
  }

  cacher({ storage }: ServedResource): Cacher {
    let cacher = this.#cachers.get(storage) ?? this.#retired.get(storage)
    if (!cacher) this.#cachers.set(storage, (cacher = new Cacher({ resource: storage, store: this.store, hints: this.#hints, log: this.#log })))
    return cacher
  }

  /** Forgets a resource that is no longer served: its watches end. */
  retire(resource: ServedResource): void {
    const cacher = this.cacher(resource)
    cacher.retire()
    this.#cachers.delete(resource.storage)
    this.#hubs.delete(resource.storage)
    // Requests that are under way may still ask.
    this.#retired.set(resource.storage, cacher)
  }

  hub(resource: ServedResource): WatchHub {
    const { storage } = resource
    let hub = this.#hubs.get(storage)
    if (!hub) this.#hubs.set(storage, (hub = new WatchHub(this.#log)))
    return hub
  }

  /** All versions of a resource by their names, if they differ in shape: the same field may have another place then. */
  versions({ storage }: ServedResource): ReadonlyMap<string, ServedResource> | undefined {
    let versions = this.#versions.get(storage)
    if (!versions) {
      const key = resourceKey(storage.definition)
      const others = [...this.#definitions.values()].filter(({ storedAs }) => storedAs?.resource === key)
      const differ = others.some(({ storedAs }) => storedAs?.toStorage)
      versions = new Map((differ ? [storage, ...others.map((definition) => this.served(definition))] : []).map((one) => [one.groupVersion, one]))
      this.#versions.set(storage, versions)
    }
    return versions.size > 0 ? versions : undefined
  }

  /** How stored objects look through a resource; conversions are done once per object. */
  view(resource: ServedResource): View {
    let view = this.#views.get(resource)
    if (!view) this.#views.set(resource, (view = viewOf(resource)))
    return view
  }

  /** The current object, as the resource shows it. A promise only while the resource's objects are being loaded. */
  get(resource: ServedResource, key: string): StoredObject | undefined | Promise<StoredObject | undefined> {
    const cacher = this.cacher(resource)
    const cache = cacher.live
    if (!cache) return cacher.ready().then(() => this.get(resource, key))
    const object = cache.objects.get(key)
    return object && this.view(resource)(object)
  }

  /** The object as the store has it: for who has just learnt that what was read from memory is old. */
  async newest(resource: ServedResource, key: string): Promise<StoredObject | undefined> {
    const { storage } = resource
    const entry = await this.store.get(key)
    if (!entry) return undefined
    const value = storage.readStored?.(entry.value) ?? entry.value
    return this.view(resource)(new StoredObject(storage, key, entry.revision, spliceRevision(storage, value, entry.revision)))
  }

  /** Commits an object over `live`, or where nothing is. */
  put(resource: ServedResource, key: string, object: KubeObject, live: StoredObject | undefined): Promise<StoredObject | Lost> {
    const { storage } = resource
    const stored = storage === resource ? object : toStorage(resource, object)
    const value = encode(storage, stored)
    this.#hints.set(value, summarize(storage, stored))
    const commit = this.#commit(storage, key, object, { conditions: [{ key, revision: live?.revision ?? 0 }], operations: [{ key, value }] })
    return this.#shown(resource, key, value, live?.revision ?? 0, commit)
  }

  /** What became of a write, as the resource shows it. It does not hold the object that was encoded while it waits. */
  async #shown(resource: ServedResource, key: string, value: Buffer, expected: number, commit: Promise<CommitResult>): Promise<StoredObject | Lost> {
    const { storage } = resource
    const result = await commit
    if (!result.committed) return lost(result.current[0], expected)
    const current = this.cacher(resource).live?.objects.get(key)
    return this.view(resource)(
      current?.revision === result.revision ? current : new StoredObject(storage, key, result.revision, spliceRevision(storage, value, result.revision)),
    )
  }

  /** Removes an object if the key is at `revision`. Gives the revision of the removal. */
  async remove({ storage }: ServedResource, key: string, revision: number): Promise<number | Lost> {
    const result = await this.#commit(storage, key, undefined, { conditions: [{ key, revision }], operations: [{ key, delete: true }] })
    return result.committed ? result.revision : lost(result.current[0], revision)
  }

  #commit({ writeHook }: ServedResource, key: string, object: KubeObject | undefined, own: Transaction): Promise<CommitResult> {
    if (!writeHook) return this.store.commit(own)
    return writeHook
      .alongside(key, object)
      .then(({ conditions, operations }) =>
        this.store.commit({ conditions: [...own.conditions, ...conditions], operations: [...own.operations, ...operations] }),
      )
  }

  stop(): void {
    for (const cacher of this.#cachers.values()) cacher.stop()
  }
}

const lost = (current: Entry | undefined, expected: number): Lost => ((current?.revision ?? 0) === expected ? 'refused' : 'changed')

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
      converted.set(object, view)
    }
    return view
  }
}
