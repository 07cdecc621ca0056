/** A cache overlaid with the controller's own writes, so that each reconcile reads the writes of earlier ones. */

import type { Caches } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject } from '../../../machinery/object.ts'

const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? 0)

interface Written<T> {
  readonly object: T
  /** True if the informer has never had the object. If it had and no longer has it, the object was deleted. */
  readonly isNew: boolean
}

export class OverlayCache<T extends KubeObject> {
  readonly #resource: Resource<T>
  /** Written objects that the informer does not have yet, by key. */
  readonly #written = new Map<string, Written<T>>()

  constructor(resource: Resource<T>) {
    this.#resource = resource
  }

  get(caches: Pick<Caches, 'get'>, namespace: string, name: string): T | undefined {
    return this.#newer(namespace ? `${namespace}/${name}` : name, caches.get(this.#resource, namespace, name))
  }

  /** Replaces cached objects by newer written ones. */
  *of(cached: Iterable<T>): Generator<T> {
    for (const object of cached) yield this.#newer(keyOf(object), object) ?? object
  }

  recordUpdate(object: T): T {
    const key = keyOf(object)
    this.#written.set(key, { object, isNew: this.#written.get(key)?.isNew ?? false })
    return object
  }

  recordCreation(object: T): T {
    this.#written.set(keyOf(object), { object, isNew: true })
    return object
  }

  /** Processes a change from the informer. */
  observe(object: T | undefined, old: T | undefined): void {
    const state = object ?? old
    if (!state) return
    const key = keyOf(state)
    const written = this.#written.get(key)
    if (!written) return
    if (!object || versionOf(object) >= versionOf(written.object)) this.#written.delete(key)
    else this.#written.set(key, { ...written, isNew: false })
  }

  #newer(key: string, cached: T | undefined): T | undefined {
    const written = this.#written.get(key)
    if (!written) return cached
    if (cached) return versionOf(written.object) > versionOf(cached) ? written.object : cached
    if (written.isNew) return written.object
    this.#written.delete(key)
    return undefined
  }
}
