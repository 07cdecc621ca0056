/**
 * The objects of a cluster, read once, behind the interface of informers: plug-ins name the kinds that they need, and
 * `read` reads those.
 */
import type { IndexFunction } from '../../client/informers/object-index.ts'
import { keyOf, ObjectStore } from '../../client/informers/object-store.ts'
import type { Resource } from '../../client/resource.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { Lister } from '../framework/index.ts'

/** Resolves with all objects of a kind; empty for a kind that the server does not have. */
export type ReadAll = <T extends KubeObject>(resource: Resource<T>) => Promise<readonly T[]>

export class ReadCluster {
  readonly #kinds = new Map<string, { readonly resource: Resource; readonly objects: ReadObjects<KubeObject> }>()

  /** The objects of a kind; empty until `read` has ended. */
  lister<T extends KubeObject>(resource: Resource<T>): Lister<T> {
    const key = `${resource.group}/${resource.plural}`
    let kind = this.#kinds.get(key)
    if (!kind) this.#kinds.set(key, (kind = { resource, objects: new ReadObjects() }))
    return kind.objects as Lister<KubeObject> as Lister<T>
  }

  /** Reads all kinds for which there is a lister. */
  async read(all: ReadAll): Promise<void> {
    const kinds = [...this.#kinds.values()]
    const lists = await Promise.all(kinds.map(({ resource }) => all(resource)))
    kinds.forEach(({ objects }, i) => {
      objects.fill(lists[i] ?? [])
    })
  }
}

class ReadObjects<T extends KubeObject> implements Lister<T> {
  readonly #store = new ObjectStore<T>()
  readonly #handlers = new Set<(object: T | undefined, before: T | undefined) => void>()

  fill(objects: readonly T[]): void {
    for (const object of objects) this.#store.set(keyOf(object), object)
    for (const handler of this.#handlers) for (const object of objects) handler(object, undefined)
  }

  get(namespace: string, name: string): T | undefined {
    return this.#store.byKey(namespace ? `${namespace}/${name}` : name)
  }

  all(): Iterable<T> {
    return this.#store.all()
  }

  in(namespace: string): Iterable<T> {
    return this.#store.in(namespace)
  }

  by(values: IndexFunction<T>, value: string): Iterable<T> {
    return this.#store.by(values, value)
  }

  onChange(handler: (object: T | undefined, before: T | undefined) => void): () => void {
    this.#handlers.add(handler)
    for (const object of this.#store.all()) handler(object, undefined)
    return () => this.#handlers.delete(handler)
  }
}
