/**
 * What somebody else made of stored objects, in the version of one resource: asked for when it is needed, and kept as
 * long as the objects are. A failure is not kept: who asks next tries again.
 */
import { internal } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../served-resource.ts'
import { encode, StoredObject, spliceRevision, summarize } from '../stored-object.ts'
import type { ObjectConversion } from './object-conversion.ts'

/** What is converted at once, at most. */
const mostObjects = 500
const mostBytes = 2 * 1024 * 1024

export class ConvertedObjects {
  readonly #resource: ServedResource
  readonly #conversion: ObjectConversion
  readonly #made = new WeakMap<StoredObject, StoredObject>()
  /** What is being converted just now. */
  readonly #under = new Map<StoredObject, Promise<void>>()

  constructor(resource: ServedResource, conversion: ObjectConversion) {
    this.#resource = resource
    this.#conversion = conversion
  }

  /** An object as the resource shows it. It has been prepared before. */
  readonly view = (object: StoredObject): StoredObject => {
    const made = this.#known(object)
    if (!made) throw internal(`${object.key} has not been converted to ${this.#resource.groupVersion}`)
    return made
  }

  /** Resolves when all of them can be viewed. Rejects with a StatusError if one cannot be converted. */
  async prepare(objects: readonly StoredObject[]): Promise<void> {
    // Others may be waiting for the same; what they wait for may fail because of objects that are nobody's business
    // here.
    const shared = new Set<Promise<void>>()
    for (const object of objects) {
      const promise = this.#known(object) ? undefined : this.#under.get(object)
      if (promise) shared.add(promise)
    }
    const own = this.#convertAll(objects.filter((object) => !this.#known(object) && !this.#under.has(object)))
    await Promise.all([own, ...[...shared].map((promise) => promise.catch(() => {}))])
    if (shared.size > 0) await this.#convertAll(objects.filter((object) => !this.#known(object)))
  }

  /** Notes what is under way, so that objects are converted once however many ask. */
  async #convertAll(objects: readonly StoredObject[]): Promise<void> {
    for (const portion of portions(objects)) {
      const converted = this.#convert(portion)
      for (const object of portion) this.#under.set(object, converted)
      try {
        await converted
      } finally {
        for (const object of portion) if (this.#under.get(object) === converted) this.#under.delete(object)
      }
    }
  }

  async #convert(portion: readonly StoredObject[]): Promise<void> {
    const resource = this.#resource
    const converted = await this.#conversion.fromStored(
      portion.map((object) => {
        const parsed = object.parse()
        // Webhooks are shown what the store holds, which has none.
        delete parsed.metadata.resourceVersion
        return parsed
      }),
    )
    portion.forEach((object, i) => {
      const shown = converted[i]!
      const bytes = spliceRevision(resource, encode(resource, shown), object.revision)
      const made = new StoredObject(resource, object.key, object.revision, bytes, summarize(resource, shown))
      made.base = object
      this.#made.set(object, made)
    })
  }

  #known(object: StoredObject): StoredObject | undefined {
    return object.resource === this.#resource ? object : this.#made.get(object)
  }
}

/** Objects of one version each, not too many and not too large together. */
function* portions(objects: readonly StoredObject[]): Generator<readonly StoredObject[]> {
  const byVersion = Map.groupBy(new Set(objects), ({ resource }) => resource)
  for (const all of byVersion.values()) {
    let portion: StoredObject[] = []
    let bytes = 0
    for (const object of all) {
      if (portion.length > 0 && (portion.length >= mostObjects || bytes + object.size > mostBytes)) {
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
