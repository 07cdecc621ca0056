/** An index of objects by the values that a function returns, such as the node or the owner's uid. */
import type { KubeObject } from '../../machinery/object.ts'

/**
 * Returns the index values of an object. Must be pure; the function's identity is the key of the index.
 * @example const byNode: IndexFunction<Pod> = (pod) => [pod.spec?.nodeName ?? '']
 */
export type IndexFunction<T extends KubeObject> = (object: T) => Iterable<string>

const none: ReadonlySet<never> = new Set()

export class Index<T extends KubeObject> {
  readonly #values: IndexFunction<T>
  readonly #objects = new Map<string, Set<T>>()

  constructor(values: IndexFunction<T>) {
    this.#values = values
  }

  get(value: string): ReadonlySet<T> {
    return this.#objects.get(value) ?? none
  }

  add(object: T): void {
    for (const value of this.#values(object)) {
      const objects = this.#objects.get(value)
      if (objects) objects.add(object)
      else this.#objects.set(value, new Set([object]))
    }
  }

  remove(object: T): void {
    for (const value of this.#values(object)) {
      const objects = this.#objects.get(value)
      objects?.delete(object)
      if (objects?.size === 0) this.#objects.delete(value)
    }
  }
}
