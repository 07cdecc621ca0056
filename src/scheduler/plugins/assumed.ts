/** Objects including writes in flight: the next pod must not be scheduled with an older state. */
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

  /** An object of the lister, or its newer assumed version. */
  of(object: T): T {
    return this.#objects.get(keyOf(object)) ?? object
  }

  /** Assumes the object until the lister has a newer one. A written object is assumed as long as it is the newest. */
  assume(object: T): void {
    const current = this.#lister.get(object.metadata.namespace ?? '', object.metadata.name ?? '')
    if (current && versionOf(current) <= versionOf(object)) this.#objects.set(keyOf(object), object)
  }

  /** Drops the assumption because nothing was written. */
  forget(object: T): void {
    this.#objects.delete(keyOf(object))
  }
}
