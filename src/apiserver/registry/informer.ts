/**
 * An informer: a resource's objects as parsed values in memory, updated by a watch, for components that read them on
 * many requests, such as the RBAC authorizer.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '../../machinery/object.ts'
import type { CacheView } from './cache/cache-view.ts'
import type { Registry } from './registry.ts'
import type { ServedResource } from './served-resource.ts'
import type { StoredObject } from './stored-object.ts'

export interface InformerOptions<T> {
  readonly registry: Registry
  readonly resource: ServedResource
  /** Reads the value to store for an object; called once for each of its revisions. Default: the parsed object. */
  readonly read?: (object: StoredObject) => T
  /**
   * Called after every change, and for each object that exists at the start. `value` is undefined after a delete;
   * `object` is the last state then.
   */
  readonly changed?: (value: T | undefined, old: T | undefined, object: StoredObject) => void
  readonly log: (line: string) => void
}

/** An object with the value that `read` returned for it. */
interface Entry<T> {
  readonly object: StoredObject
  readonly value: T
}

/** The wait before a new watch after an error, in ms. */
const retryMs = 1000

export class Informer<T = KubeObject> {
  readonly #options: InformerOptions<T>
  readonly #read: (object: StoredObject) => T
  /** By namespace, then by name. Namespaces without objects are removed. */
  readonly #entries = new Map<string, Map<string, Entry<T>>>()
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void) | undefined

  constructor(options: InformerOptions<T>) {
    this.#options = options
    this.#read = options.read ?? ((object) => object.parse() as T)
  }

  /** Resolves when all objects have been loaded. Rejects when the store does. */
  async start(): Promise<void> {
    const view = await this.#watch()
    for (const object of view.objects.slice(view.resource.range(''))) this.#update(object)
  }

  stop(): void {
    this.#stopping.abort()
    this.#unsubscribe?.()
  }

  /** `namespace` is empty for cluster-scoped kinds. */
  get(namespace: string, name: string): T | undefined {
    return this.#entries.get(namespace)?.get(name)?.value
  }

  /** The values of a namespace (empty for cluster-scoped kinds), in no particular order. */
  *in(namespace: string): Generator<T> {
    for (const { value } of this.#entries.get(namespace)?.values() ?? []) yield value
  }

  /** The values of all namespaces. */
  *all(): Generator<T> {
    for (const namespace of this.#entries.keys()) yield* this.in(namespace)
  }

  async #watch(): Promise<CacheView> {
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
        const view = await this.#watch()
        for (const objects of [...this.#entries.values()])
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
    let objects = this.#entries.get(namespace)
    const old = objects?.get(name)
    if (old && old.object.revision >= object.revision) return
    const value = this.#read(object)
    if (!objects) this.#entries.set(namespace, (objects = new Map()))
    objects.set(name, { object, value })
    this.#options.changed?.(value, old?.value, object)
  }

  #remove(object: StoredObject): void {
    const { namespace, name } = object
    const objects = this.#entries.get(namespace)
    const old = objects?.get(name)
    if (!objects || !old) return
    objects.delete(name)
    if (objects.size === 0) this.#entries.delete(namespace)
    this.#options.changed?.(undefined, old.value, object)
  }
}
