/** Objects in memory by key, with indexes that are built on first use. */
import type { KubeObject } from '../../machinery/object.ts'
import { Index, type IndexFunction } from './object-index.ts'

/**
 * Returns `namespace/name`, or the name of a cluster-scoped object.
 * @example queue.add(keyOf(pod))
 */
export const keyOf = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace ? `${namespace}/${name}` : name

/** The index of objects by namespace. */
const namespaceIndex: IndexFunction<KubeObject> = ({ metadata }) => [metadata.namespace ?? '']

export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly #indexes = new Map<IndexFunction<T>, Index<T>>()

  get size(): number {
    return this.#objects.size
  }

  byKey(key: string): T | undefined {
    return this.#objects.get(key)
  }

  all(): Iterable<T> {
    return this.#objects.values()
  }

  keys(): Iterable<string> {
    return this.#objects.keys()
  }

  /** The objects in a namespace. */
  in(namespace: string): Iterable<T> {
    return this.by(namespaceIndex, namespace)
  }

  /** The objects for which an index function returns `value`; builds the index on first use. */
  by(values: IndexFunction<T>, value: string): Iterable<T> {
    let index = this.#indexes.get(values)
    if (!index) {
      this.#indexes.set(values, (index = new Index(values)))
      for (const object of this.#objects.values()) index.add(object)
    }
    return index.get(value)
  }

  set(key: string, object: T): void {
    const old = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) {
      if (old) index.remove(old)
      index.add(object)
    }
  }

  delete(key: string): void {
    const old = this.#objects.get(key)
    if (!old) return
    this.#objects.delete(key)
    for (const index of this.#indexes.values()) index.remove(old)
  }
}
