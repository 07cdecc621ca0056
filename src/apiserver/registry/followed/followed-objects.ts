/**
 * A resource's objects as parsed values in memory, kept up to date, for components that read them on many requests,
 * such as the RBAC authorizer.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '../../../machinery/object.ts'
import type { CacheView } from '../cache/cache-view.ts'
import type { Registry } from '../registry.ts'
import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'

export interface FollowedOptions<T> {
  readonly registry: Registry
  readonly resource: ServedResource
  /** Reads the value to store for an object; called once for each of its revisions. Default: the parsed object. */
  readonly read?: (object: StoredObject) => T
  /**
   * Called after every change, and for each object that exists at the start. `value` is undefined after a delete;
   * `object` is the last state then.
   */
  readonly changed?: (value: T | undefined, before: T | undefined, object: StoredObject) => void
  readonly log: (line: string) => void
}

interface Followed<T> {
  readonly object: StoredObject
  readonly value: T
}

const retryMs = 1000

export class FollowedObjects<T = KubeObject> {
  readonly #options: FollowedOptions<T>
  readonly #read: (object: StoredObject) => T
  /** By namespace, then by name. Namespaces without objects are removed. */
  readonly #followed = new Map<string, Map<string, Followed<T>>>()
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void) | undefined

  constructor(options: FollowedOptions<T>) {
    this.#options = options
    this.#read = options.read ?? ((object) => object.parse() as T)
  }

  /** Resolves when all objects have been loaded. Rejects when the store does. */
  async start(): Promise<void> {
    const view = await this.#follow()
    for (const object of view.objects.slice(view.resource.range(''))) this.#update(object)
  }

  stop(): void {
    this.#stopping.abort()
    this.#unsubscribe?.()
  }

  /** `namespace` is empty for cluster-scoped kinds. */
  get(namespace: string, name: string): T | undefined {
    return this.#followed.get(namespace)?.get(name)?.value
  }

  /** The values of a namespace (empty for cluster-scoped kinds), in no particular order. */
  *in(namespace: string): Generator<T> {
    for (const { value } of this.#followed.get(namespace)?.values() ?? []) yield value
  }

  /** The values of all namespaces. */
  *all(): Generator<T> {
    for (const namespace of this.#followed.keys()) yield* this.in(namespace)
  }

  async #follow(): Promise<CacheView> {
    const { registry, resource, log } = this.#options
    const view = await registry.cacher(resource).ready()
    this.#unsubscribe = view.subscribe({
      changes: (batch) => {
        for (const change of batch) {
          if (change.type === 'put') this.#update(change.object)
          else this.#remove(change.previous ?? change.object)
        }
      },
      end: () => {
        if (this.#stopping.signal.aborted) return
        this.#restart().catch((error) => log(`${resource.groupResource.name} are no longer watched: ${error}`))
      },
    })
    return view
  }

  /** Replaces a view that has ended by a new one, and catches up on the changes in between. */
  async #restart(): Promise<void> {
    const { resource, log } = this.#options
    while (!this.#stopping.signal.aborted) {
      try {
        const view = await this.#follow()
        for (const objects of [...this.#followed.values()])
          for (const { object } of [...objects.values()]) if (!view.objects.get(object.key)) this.#remove(object)
        for (const object of view.objects.slice(resource.range(''))) this.#update(object)
        return
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        log(`${resource.groupResource.name} cannot be read, retrying: ${error}`)
        await delay(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
      }
    }
  }

  #update(object: StoredObject): void {
    const { namespace, name } = object
    let objects = this.#followed.get(namespace)
    const before = objects?.get(name)
    if (before && before.object.revision >= object.revision) return
    const value = this.#read(object)
    if (!objects) this.#followed.set(namespace, (objects = new Map()))
    objects.set(name, { object, value })
    this.#options.changed?.(value, before?.value, object)
  }

  #remove(object: StoredObject): void {
    const { namespace, name } = object
    const objects = this.#followed.get(namespace)
    const before = objects?.get(name)
    if (!objects || !before) return
    objects.delete(name)
    if (objects.size === 0) this.#followed.delete(namespace)
    this.#options.changed?.(undefined, before.value, object)
  }
}
