/** Informers: a kind's objects in memory, kept up to date by a list and a watch that goes on where the one before ended. */
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '../machinery/object.ts'
import { StatusError } from '../machinery/status-error.ts'
import { Index, type IndexFunction } from './object-index.ts'
import type { Resource } from './resource.ts'
import type { ListOptions, RestClient } from './rest-client.ts'

export interface InformerOptions<T extends KubeObject> extends ListOptions {
  readonly client: RestClient
  readonly resource: Resource<T>
  readonly log: (line: string) => void
}

/** Told of every change; `object` is undefined where it has gone, `before` where it is new. */
export type ChangeHandler<T> = (object: T | undefined, before: T | undefined) => void

const shortestPauseMs = 200
const longestPauseMs = 10_000

/** `namespace/name`, or the name of what has no namespace. */
export const keyOf = ({ metadata: { namespace, name = '' } }: KubeObject): string => (namespace ? `${namespace}/${name}` : name)

/** The index that every informer has: the objects of a namespace. */
const namespaceIndex: IndexFunction<KubeObject> = ({ metadata }) => [metadata.namespace ?? '']

export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>
  readonly #objects = new Map<string, T>()
  readonly #handlers: ChangeHandler<T>[] = []
  readonly #indexes = new Map<IndexFunction<T>, Index<T>>()
  #synced = false

  constructor(options: InformerOptions<T>) {
    this.#options = options
  }

  /** Whether all objects of the first list are known. */
  get hasSynced(): boolean {
    return this.#synced
  }

  /** The object as last seen: it must not be changed. `namespace` is empty for what has none. */
  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name)
  }

  all(): Iterable<T> {
    return this.#objects.values()
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

  /** Told of what is there already, and of every change from now on. */
  onChange(handler: ChangeHandler<T>): void {
    this.#handlers.push(handler)
    for (const object of this.#objects.values()) handler(object, undefined)
  }

  /** Follows the objects until `signal` is aborted; `synced` is called when all are known. Never rejects. */
  async run(signal: AbortSignal, synced: () => void): Promise<void> {
    const { client, resource, log, ...selection } = this.#options
    let version = ''
    let pauseMs = shortestPauseMs
    while (!signal.aborted) {
      try {
        if (!version) {
          const list = await client.list(resource, selection)
          this.#replace(list.items)
          version = list.resourceVersion
          if (!this.#synced) synced()
          this.#synced = true
        }
        for await (const { type, object } of client.watch(resource, { ...selection, resourceVersion: version, signal })) {
          version = object.metadata.resourceVersion ?? version
          if (type === 'DELETED') this.#remove(object)
          else if (type !== 'BOOKMARK') this.#set(object)
          pauseMs = shortestPauseMs
        }
      } catch (error) {
        if (signal.aborted) return
        // The past is forgotten: begin anew.
        if (error instanceof StatusError && error.code === 410) version = ''
        else log(`${resource.plural} are not followed just now, trying again: ${error instanceof Error ? error.message : String(error)}`)
        await delay(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  #replace(items: readonly T[]): void {
    const seen = new Set(items.map(keyOf))
    for (const [key, object] of [...this.#objects]) if (!seen.has(key)) this.#remove(object)
    for (const item of items) this.#set(item)
  }

  #set(object: T): void {
    // Nobody decides by who wrote what, and it is the larger half of many objects.
    delete object.metadata.managedFields
    const key = keyOf(object)
    const before = this.#objects.get(key)
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion && before) return
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) {
      if (before) index.remove(before)
      index.add(object)
    }
    this.#tell(object, before)
  }

  #remove(object: T): void {
    const key = keyOf(object)
    const before = this.#objects.get(key)
    if (!before) return
    this.#objects.delete(key)
    for (const index of this.#indexes.values()) index.remove(before)
    this.#tell(undefined, before)
  }

  #tell(object: T | undefined, before: T | undefined): void {
    for (const handler of this.#handlers) handler(object, before)
  }
}
