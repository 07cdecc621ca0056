/**
 * Informers: a kind's objects in memory, kept up to date, and those who are told of each change in the order of
 * changes.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { FailureLog } from '../controller/failure-log.ts'
import type { Resource } from '../resource.ts'
import type { ListOptions, RestClient } from '../rest/rest-client.ts'
import type { IndexFunction } from './object-index.ts'
import { keyOf, ObjectStore } from './object-store.ts'
import { Reflector, type ReflectorSink } from './reflector.ts'
import { SharedParts } from './shared-parts.ts'

export { keyOf } from './object-store.ts'

export interface InformerOptions<T extends KubeObject> extends ListOptions {
  readonly client: RestClient
  readonly resource: Resource<T>
  readonly log: (line: string) => void
  /** Where it is said that the server is away, once for all who share it; one of its own unless said. */
  readonly failures?: FailureLog
  /**
   * What is kept of an object; it may be changed. Without `managedFields` unless said: nobody decides by who wrote
   * what, and it is the larger half of many objects.
   */
  readonly transform?: (object: T) => T
}

/**
 * Told of every change; `object` is undefined where it has gone (`before` is what was known last), `before` where it is
 * new.
 */
export type ChangeHandler<T> = (object: T | undefined, before: T | undefined) => void

export interface HandlerOptions {
  /** Tells the handler all objects again, as unchanged, every so many ms; never unless said. */
  readonly resyncMs?: number
}

interface Told<T> {
  readonly handler: ChangeHandler<T>
  readonly timer: NodeJS.Timeout | undefined
}

export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>
  readonly #transform: (object: T) => T
  readonly #store = new ObjectStore<T>()
  readonly #parts = new SharedParts()
  readonly #handlers = new Set<Told<T>>()
  #synced = false
  #lastSyncResourceVersion = ''
  #whenSynced: (() => void) | undefined

  constructor(options: InformerOptions<T>) {
    this.#options = options
    this.#transform = options.transform ?? withoutManagedFields
  }

  /** Whether all objects of the first list are known, and handlers have been told of them. */
  get hasSynced(): boolean {
    return this.#synced
  }

  /**
   * The version of the collection that is known here, as client-go's `LastSyncResourceVersion`; empty before the first
   * list.
   * @example console.log(`pods as of ${informer.lastSyncResourceVersion}`)
   */
  get lastSyncResourceVersion(): string {
    return this.#lastSyncResourceVersion
  }

  /**
   * `namespace/name` of every object, or the name of what has no namespace.
   * @example for (const key of informer.keys()) queue.add(key)
   */
  keys(): Iterable<string> {
    return this.#store.keys()
  }

  /** How many objects there are. */
  get size(): number {
    return this.#store.size
  }

  /** The object as last seen: it must not be changed. `namespace` is empty for what has none. */
  get(namespace: string, name: string): T | undefined {
    return this.#store.byKey(namespace ? `${namespace}/${name}` : name)
  }

  all(): Iterable<T> {
    return this.#store.all()
  }

  /** Those of a namespace. */
  in(namespace: string): Iterable<T> {
    return this.#store.in(namespace)
  }

  /** Those that an index function gives a value for; the index is made when first asked for, and kept. */
  by(values: IndexFunction<T>, value: string): Iterable<T> {
    return this.#store.by(values, value)
  }

  /**
   * Told of what is there already, and of every change from now on, one after the other: nothing is left out, and
   * nothing made one of two. What a handler throws is logged, and keeps it from nothing else. Returns what ends it.
   */
  onChange(handler: ChangeHandler<T>, { resyncMs }: HandlerOptions = {}): () => void {
    const again = (): void => {
      for (const object of this.#store.all()) this.#call(handler, object, object)
    }
    const told: Told<T> = { handler, timer: resyncMs ? setInterval(again, resyncMs).unref() : undefined }
    this.#handlers.add(told)
    for (const object of this.#store.all()) this.#call(handler, object, undefined)
    return () => {
      this.#handlers.delete(told)
      clearInterval(told.timer)
    }
  }

  /** Follows the objects until `signal` is aborted; `synced` is called when all are known. Never rejects. */
  async run(signal: AbortSignal, synced: () => void = () => {}): Promise<void> {
    this.#whenSynced = synced
    const { transform: _, log, failures = new FailureLog(log), ...options } = this.#options
    const sink: ReflectorSink<T> = {
      keep: (object) => this.#kept(object),
      replace: (items) => this.#replace(items),
      reached: (version) => {
        this.#lastSyncResourceVersion = version
      },
      set: (object) => this.#set(object),
      remove: (object) => this.#remove(object),
    }
    await new Reflector({ ...options, failures, sink }).run(signal)
    for (const { timer } of this.#handlers) clearInterval(timer)
  }

  #replace(items: readonly T[]): void {
    const seen = new Set(items.map(keyOf))
    // What has gone while nobody told us: its last state is the one that we know.
    for (const key of [...this.#store.keys()]) if (!seen.has(key)) this.#forget(key)
    for (const item of items) this.#set(item)
    this.#synced = true
    this.#whenSynced?.()
    this.#whenSynced = undefined
  }

  /**
   * What is known already stays one object: a server that tells all objects anew costs nothing to those that have not
   * changed.
   */
  #kept(came: T): T {
    const object = this.#transform(came)
    const before = this.#store.byKey(keyOf(object))
    if (before && before.metadata.resourceVersion === object.metadata.resourceVersion) return before
    this.#parts.share(object, before)
    return object
  }

  #set(object: T): void {
    const key = keyOf(object)
    const before = this.#store.byKey(key)
    if (before && before.metadata.resourceVersion === object.metadata.resourceVersion) return
    // Another of the same name: the one that was known has gone.
    const isAnother = before && before.metadata.uid !== object.metadata.uid
    if (isAnother) this.#forget(key)
    this.#store.set(key, object)
    this.#tell(object, isAnother ? undefined : before)
  }

  /** `last` is its last state, as the server tells it. */
  #remove(last: T): void {
    this.#forget(keyOf(last), this.#transform(last))
  }

  #forget(key: string, last = this.#store.byKey(key)): void {
    if (!this.#store.byKey(key)) return
    this.#store.delete(key)
    this.#tell(undefined, last)
  }

  #tell(object: T | undefined, before: T | undefined): void {
    for (const { handler } of this.#handlers) this.#call(handler, object, before)
  }

  #call(handler: ChangeHandler<T>, object: T | undefined, before: T | undefined): void {
    try {
      handler(object, before)
    } catch (error) {
      const { resource, log } = this.#options
      log(
        `who follows ${resource.plural} failed on ${keyOf((object ?? before) as T)}: ` +
          `${error instanceof Error ? error.stack : String(error)}`,
      )
    }
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  // Not deleted: an object that loses a member is a hash table from then on, of three times the size.
  const { managedFields: _, ...metadata } = object.metadata
  object.metadata = metadata
  return object
}
