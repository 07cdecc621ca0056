/** Commits objects: the one place that writes them to the store. */
import { parseJson } from '../../../lib/exact-json.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject, ObjectMeta } from '../../../machinery/object.ts'
import { forbidden } from '../../../machinery/status-error.ts'
import type { CommitResult, Entry, Transaction } from '../../../storage/store.ts'
import type { ObjectConversion } from '../conversion/object-conversion.ts'
import type { Registry } from '../registry.ts'
import type { ServedResource } from '../served-resource.ts'
import { encode, StoredObject, spliceRevision, summarize, summaryWith } from '../stored-object.ts'
import type { WriteHook } from './write-hook.ts'

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

export class Commits {
  readonly #registry: Pick<Registry, 'storeOf' | 'cacher' | 'view' | 'newest'>

  constructor(registry: Pick<Registry, 'storeOf' | 'cacher' | 'view' | 'newest'>) {
    this.#registry = registry
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
    this.#registry
      .cacher(resource)
      .hints.set(value, { summary: summaryWith(metadata, live.summary), validSpec: live.validSpec })
    const { revision } = live
    return this.#written(
      resource,
      key,
      value,
      revision,
      this.#registry.storeOf(resource).commit({
        conditions: [{ key, revision }],
        operations: [{ key, value, ttlSeconds: resource.ttlSeconds }],
      }),
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
    return (await this.#registry.newest(resource, key)) ? removed : last
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
    const cacher = this.#registry.cacher(resource)
    if (!live && cacher.refusesCreate)
      throw forbidden(resource.groupResource, object.metadata.name ?? '', cacher.refusesCreate)
    cacher.hints.set(value, { summary: summarize(storage, stored), validSpec })
    const revision = live?.revision ?? 0
    return this.#written(
      resource,
      key,
      value,
      revision,
      this.#commit(storage, key, object, {
        conditions: [{ key, revision }],
        operations: [{ key, value, ttlSeconds: storage.ttlSeconds }],
      }),
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
    const cacher = this.#registry.cacher(resource)
    const result = await cacher.counts.measured(expected === 0 ? 'create' : 'update', commit)
    if (!result.committed) return lost(result.current[0], expected)
    const current = cacher.live?.objects.get(key)
    return this.#registry
      .view(resource)
      .shown(
        current?.revision === result.revision
          ? current
          : new StoredObject(storage, key, result.revision, spliceRevision(storage, value, result.revision)),
      )
  }

  /** Removes an object if the key is at `revision`. Returns the revision of the removal. */
  async remove(resource: ServedResource, key: string, revision: number): Promise<number | Lost> {
    const { storage } = resource
    const commit = this.#commit(storage, key, undefined, {
      conditions: [{ key, revision }],
      operations: [{ key, delete: true }],
    })
    const result = await this.#registry.cacher(resource).counts.measured('delete', commit)
    return result.committed ? result.revision : lost(result.current[0], revision)
  }

  #commit(
    storage: ServedResource,
    key: string,
    object: KubeObject | undefined,
    own: Transaction,
  ): Promise<CommitResult> {
    const { writeHook } = storage
    return writeHook ? commitWithHook(writeHook, key, object, own) : this.#registry.storeOf(storage).commit(own)
  }
}

async function commitWithHook(
  writeHook: WriteHook,
  key: string,
  object: KubeObject | undefined,
  own: Transaction,
): Promise<CommitResult> {
  const result = await writeHook.commit(key, object, own)
  if (!result.committed && lost(result.current[0], own.conditions[0]!.revision) === 'refused')
    await writeHook.refused?.()
  return result
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
