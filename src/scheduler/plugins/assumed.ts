/** Objects as they will be once what is being written has come back: the next pod must not see less. */
import { keyOf } from '../../client/informers/object-store.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { Lister } from '../framework/index.ts'

const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? 0)

export class Assumed<T extends KubeObject> {
  readonly #lister: Lister<T>
  readonly #objects = new Map<string, T>()

  constructor(lister: Lister<T>) {
    this.#lister = lister
    lister.onChange((object, before) => {
      const changed = object ?? before
      if (!changed) return
      const assumed = this.#objects.get(keyOf(changed))
      if (assumed && (!object || versionOf(object) > versionOf(assumed))) this.#objects.delete(keyOf(changed))
    })
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name) ?? this.#lister.get(namespace, name)
  }

  /** An object of the lister, as it will be. */
  of(object: T): T {
    return this.#objects.get(keyOf(object)) ?? object
  }

  /**
   * Holds until the lister has something newer. An object that was written already holds as long as it is the newest.
   */
  assume(object: T): void {
    const current = this.#lister.get(object.metadata.namespace ?? '', object.metadata.name ?? '')
    if (current && versionOf(current) <= versionOf(object)) this.#objects.set(keyOf(object), object)
  }

  /** Nothing was written after all. */
  forget(object: T): void {
    this.#objects.delete(keyOf(object))
  }
}
