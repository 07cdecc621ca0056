/** Informers with what was written on top: a decision never sees less than what the one before has done. */

import type { Caches } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject } from '../../../machinery/object.ts'

const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? 0)

interface Written<T> {
  readonly object: T
  /** Whether the informer has never had it. What it had, and has no more, is gone, whatever was written. */
  readonly isNew: boolean
}

export class Latest<T extends KubeObject> {
  readonly #resource: Resource<T>
  /** What was written and has not come back yet, by key. */
  readonly #written = new Map<string, Written<T>>()

  constructor(resource: Resource<T>) {
    this.#resource = resource
  }

  get(caches: Pick<Caches, 'get'>, namespace: string, name: string): T | undefined {
    return this.#newer(namespace ? `${namespace}/${name}` : name, caches.get(this.#resource, namespace, name))
  }

  /** Objects of the cache, as they are now. */
  *of(cached: Iterable<T>): Generator<T> {
    for (const object of cached) yield this.#newer(keyOf(object), object) ?? object
  }

  wrote(object: T): T {
    const key = keyOf(object)
    this.#written.set(key, { object, isNew: this.#written.get(key)?.isNew ?? false })
    return object
  }

  made(object: T): T {
    this.#written.set(keyOf(object), { object, isNew: true })
    return object
  }

  /** Told of every change that an informer sees. */
  changed(object: T | undefined, before: T | undefined): void {
    const state = object ?? before
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
