/**
 * The ConfigMaps, Secrets and other objects that pods of this node refer to. A node may read them by name only, so each
 * is read when it is needed, and again after a while (upstream's `Cache` strategy).
 */

import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'

/** Objects are read again after this time, in ms. */
const freshMs = 60_000
const maxObjects = 10_000

interface Entry {
  readonly object: Promise<KubeObject | undefined>
  readonly readAt: number
}

export class ReferencedObjects {
  readonly #client: RestClient
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(client: RestClient, now: () => number) {
    this.#client = client
    this.#now = now
  }

  /** Resolves with undefined for a missing object. Rejects if the API cannot be reached. */
  find<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<T | undefined> {
    const key = `${resource.plural}/${namespace}/${name}`
    const known = this.#entries.get(key)
    if (known && this.#now() - known.readAt < freshMs) return known.object as Promise<T | undefined>
    const object = this.#client.find(resource, namespace, name)
    this.#remember(key, object)
    return object
  }

  /** Makes the next look-up of an object read it. */
  forget(resource: Resource, namespace: string, name: string): void {
    this.#entries.delete(`${resource.plural}/${namespace}/${name}`)
  }

  #remember(key: string, object: Promise<KubeObject | undefined>): void {
    if (this.#entries.size >= maxObjects) this.#entries.clear()
    const entry = { object, readAt: this.#now() }
    this.#entries.set(key, entry)
    // Failures and missing objects are not remembered: they may be there at the next attempt.
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    }
    object.then((found) => !found && forget(), forget)
  }
}
