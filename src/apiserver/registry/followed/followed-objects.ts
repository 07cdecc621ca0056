/**
 * A resource's objects as values in memory, kept up to date: for who looks at them on many requests and cannot read the
 * store each time, such as an authorizer that decides by roles.
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
  /** What is kept of an object; called once for each of its revisions. The object itself, parsed, unless said. */
  readonly read?: (object: StoredObject) => T
  /**
   * Told after every change, the objects that are there at the start among them. `value` is undefined where the object
   * has gone; `object` is what it was then.
   */
  readonly changed?: (value: T | undefined, before: T | undefined, object: StoredObject) => void
  readonly log: (line: string) => void
}

interface Kept<T> {
  readonly object: StoredObject
  readonly value: T
}

const retryMs = 1000

export class FollowedObjects<T = KubeObject> {
  readonly #options: FollowedOptions<T>
  readonly #read: (object: StoredObject) => T
  /** By namespace, then by name. Namespaces without objects are not kept. */
  readonly #kept = new Map<string, Map<string, Kept<T>>>()
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void) | undefined

  constructor(options: FollowedOptions<T>) {
    this.#options = options
    this.#read = options.read ?? ((object) => object.parse() as T)
  }

  /** Resolves when all objects are known. Rejects when the store does. */
  async start(): Promise<void> {
    const view = await this.#follow()
    for (const object of view.objects.slice(view.resource.range(''))) this.#seen(object)
  }

  stop(): void {
    this.#stopping.abort()
    this.#unsubscribe?.()
  }

  /** `namespace` is empty for what has none. */
  get(namespace: string, name: string): T | undefined {
    return this.#kept.get(namespace)?.get(name)?.value
  }

  /** Those of a namespace (empty for kinds that have none), in no order that means anything. */
  *in(namespace: string): Generator<T> {
    for (const { value } of this.#kept.get(namespace)?.values() ?? []) yield value
  }

  /** Those of all namespaces. */
  *all(): Generator<T> {
    for (const namespace of this.#kept.keys()) yield* this.in(namespace)
  }

  async #follow(): Promise<CacheView> {
    const { registry, resource, log } = this.#options
    const view = await registry.cacher(resource).ready()
    this.#unsubscribe = view.subscribe({
      changes: (batch) => {
        for (const change of batch) {
          if (change.type === 'put') this.#seen(change.object)
          else this.#gone(change.previous ?? change.object)
        }
      },
      end: () => {
        if (this.#stopping.signal.aborted) return
        this.#again().catch((error) => log(`${resource.groupResource.name} are not followed any more: ${error}`))
      },
    })
    return view
  }

  /** The view has ended: another one takes its place, and what has changed in between is made up for. */
  async #again(): Promise<void> {
    const { resource, log } = this.#options
    while (!this.#stopping.signal.aborted) {
      try {
        const view = await this.#follow()
        for (const kept of [...this.#kept.values()])
          for (const { object } of [...kept.values()]) if (!view.objects.get(object.key)) this.#gone(object)
        for (const object of view.objects.slice(resource.range(''))) this.#seen(object)
        return
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        log(`${resource.groupResource.name} cannot be read, trying again: ${error}`)
        await delay(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
      }
    }
  }

  #seen(object: StoredObject): void {
    const { namespace, name } = object
    let kept = this.#kept.get(namespace)
    const before = kept?.get(name)
    if (before && before.object.revision >= object.revision) return
    const value = this.#read(object)
    if (!kept) this.#kept.set(namespace, (kept = new Map()))
    kept.set(name, { object, value })
    this.#options.changed?.(value, before?.value, object)
  }

  #gone(object: StoredObject): void {
    const { namespace, name } = object
    const kept = this.#kept.get(namespace)
    const before = kept?.get(name)
    if (!kept || !before) return
    kept.delete(name)
    if (kept.size === 0) this.#kept.delete(namespace)
    this.#options.changed?.(undefined, before.value, object)
  }
}
