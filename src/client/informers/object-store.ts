/** Objects in memory by their keys, with indexes that are made when they are first asked for. */
import type { KubeObject } from '../../machinery/object.ts'
import { Index, type IndexFunction } from './object-index.ts'

/** `namespace/name`, or the name of what has no namespace. */
export const keyOf = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace ? `${namespace}/${name}` : name

/** The index that every store has: the objects of a namespace. */
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

  /** Those of a namespace. */
  in(namespace: string): Iterable<T> {
    return this.by(namespaceIndex, namespace)
  }

  /** Those that an index function gives a value for; the index is made when first asked for, and kept. */
  by(values: IndexFunction<T>, value: string): Iterable<T> {
    let index = this.#indexes.get(values)
    if (!index) {
      this.#indexes.set(values, (index = new Index(values)))
      for (const object of this.#objects.values()) index.add(object)
    }
    return index.get(value)
  }

  set(key: string, object: T): void {
    const before = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) {
      if (before) index.remove(before)
      index.add(object)
    }
  }

  delete(key: string): void {
    const before = this.#objects.get(key)
    if (!before) return
    this.#objects.delete(key)
    for (const index of this.#indexes.values()) index.remove(before)
  }
}
