/**
 * Stored objects converted to the version of one resource: converted when needed, and cached as long as the stored
 * objects exist. A failure is not cached: the next call retries.
 */
import { internal } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../served-resource.ts'
import { encode, StoredObject, spliceRevision, summarize } from '../stored-object.ts'
import type { ObjectConversion } from './object-conversion.ts'

/** The maximum of one conversion request. */
const maxObjects = 500
const maxBytes = 2 * 1024 * 1024

export class ConvertedObjects {
  readonly #resource: ServedResource
  readonly #conversion: ObjectConversion
  readonly #converted = new WeakMap<StoredObject, StoredObject>()
  /** Conversions that are in progress. */
  readonly #pending = new Map<StoredObject, Promise<void>>()

  constructor(resource: ServedResource, conversion: ObjectConversion) {
    this.#resource = resource
    this.#conversion = conversion
  }

  /** An object in the form of the resource. It must have been prepared. */
  readonly view = (object: StoredObject): StoredObject => {
    const stored = this.#known(object)
    if (!stored) throw internal(`${object.key} has not been converted to ${this.#resource.groupVersion}`)
    return stored
  }

  /** Resolves when all of them can be viewed. Rejects with a StatusError if one cannot be converted. */
  async prepare(objects: readonly StoredObject[]): Promise<void> {
    // Wait for conversions of the same objects that others have started, but ignore their errors: those may be about
    // objects that are not wanted here.
    const shared = new Set<Promise<void>>()
    for (const object of objects) {
      const promise = this.#known(object) ? undefined : this.#pending.get(object)
      if (promise) shared.add(promise)
    }
    const own = this.#convertAll(objects.filter((object) => !this.#known(object) && !this.#pending.has(object)))
    await Promise.all([own, ...[...shared].map((promise) => promise.catch(() => {}))])
    if (shared.size > 0) await this.#convertAll(objects.filter((object) => !this.#known(object)))
  }

  /** Records pending conversions, so that each object is converted once however many callers want it. */
  async #convertAll(objects: readonly StoredObject[]): Promise<void> {
    for (const portion of portions(objects)) {
      const converted = this.#convert(portion)
      for (const object of portion) this.#pending.set(object, converted)
      try {
        await converted
      } finally {
        for (const object of portion) if (this.#pending.get(object) === converted) this.#pending.delete(object)
      }
    }
  }

  async #convert(portion: readonly StoredObject[]): Promise<void> {
    const resource = this.#resource
    const converted = await this.#conversion.fromStored(
      portion.map((object) => {
        const parsed = object.parse()
        // Webhooks receive the stored form, which has no resourceVersion.
        delete parsed.metadata.resourceVersion
        return parsed
      }),
    )
    portion.forEach((object, i) => {
      const result = converted[i]!
      const bytes = spliceRevision(resource, encode(resource, result), object.revision)
      const stored = new StoredObject(resource, object.key, object.revision, bytes, summarize(resource, result))
      stored.base = object
      this.#converted.set(object, stored)
    })
  }

  #known(object: StoredObject): StoredObject | undefined {
    return object.resource === this.#resource ? object : this.#converted.get(object)
  }
}

/** Portions of objects of one version each, limited in number and bytes. */
function* portions(objects: readonly StoredObject[]): Generator<readonly StoredObject[]> {
  const byVersion = Map.groupBy(new Set(objects), ({ resource }) => resource)
  for (const all of byVersion.values()) {
    let portion: StoredObject[] = []
    let bytes = 0
    for (const object of all) {
      if (portion.length > 0 && (portion.length >= maxObjects || bytes + object.size > maxBytes)) {
        yield portion
        portion = []
        bytes = 0
      }
      portion.push(object)
      bytes += object.size
    }
    if (portion.length > 0) yield portion
  }
}
