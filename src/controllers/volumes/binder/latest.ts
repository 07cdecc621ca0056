/** Informers with what was written on top: a decision never sees less than what the one before has done. */

import type { Caches } from '../../../client/controller.ts'
import { keyOf } from '../../../client/informer.ts'
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject } from '../../../machinery/object.ts'

const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? 0)

export class Latest<T extends KubeObject> {
  readonly #resource: Resource<T>
  /** What was written and has not come back yet, by key. */
  readonly #written = new Map<string, T>()

  constructor(resource: Resource<T>) {
    this.#resource = resource
  }

  get(caches: Caches, namespace: string, name: string): T | undefined {
    const cached = caches.get(this.#resource, namespace, name)
    return this.#newer(this.#written.get(namespace ? `${namespace}/${name}` : name), cached)
  }

  /** Objects of the cache, as they are now. */
  *of(cached: Iterable<T>): Generator<T> {
    for (const object of cached) yield this.#newer(this.#written.get(keyOf(object)), object) ?? object
  }

  wrote(object: T): T {
    this.#written.set(keyOf(object), object)
    return object
  }

  /** Told of every change that an informer sees. */
  changed(object: T | undefined, before: T | undefined): void {
    const state = object ?? before
    if (!state) return
    const key = keyOf(state)
    const written = this.#written.get(key)
    if (written && (!object || versionOf(object) >= versionOf(written))) this.#written.delete(key)
  }

  #newer(written: T | undefined, cached: T | undefined): T | undefined {
    return written && (!cached || versionOf(written) > versionOf(cached)) ? written : cached
  }
}
