/** Informers: hold the objects of a kind in memory, and notify handlers of changes in order. */
import { type Alarm, type Clock, every, systemClock } from '../../lib/clock/clock.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { FailureLog } from '../controller/failure-log.ts'
import type { Resource } from '../resource.ts'
import type { ListOptions, RestClient } from '../rest/rest-client.ts'
import type { IndexFunction } from './object-index.ts'
import { keyOf, ObjectStore } from './object-store.ts'
import { Reflector, type ReflectorSink } from './reflector.ts'
import { StructuralSharing } from './structural-sharing.ts'

export { keyOf } from './object-store.ts'

/** The objects that an informer caches. */
export interface InformerOptions<T extends KubeObject> extends ListOptions {
  readonly client: RestClient
  readonly resource: Resource<T>
  readonly log: (line: string) => void
  /** Logs an unreachable server, once for all informers that share it. Default: its own. */
  readonly failures?: FailureLog
  /**
   * Called before an object is stored; may modify it. Default: removes `managedFields`, which are more than half of
   * many objects.
   */
  readonly transform?: (object: T) => T
}

/**
 * Called on each change. `object` is undefined after a deletion (`old` is the last known state), `old` is undefined for
 * a new object.
 */
export type ChangeHandler<T> = (object: T | undefined, old: T | undefined) => void

/** How a handler of an informer is called. */
export interface HandlerOptions {
  /** Calls the handler with all objects, as unchanged, at this interval in ms. Default: never. */
  readonly resyncMs?: number
  /** The clock of the interval. Default: the clock of the machine. */
  readonly clock?: Clock
}

interface Subscription<T> {
  readonly handler: ChangeHandler<T>
  readonly resyncs: Alarm | undefined
}

/**
 * A cache of the objects of a kind, kept current by a watch.
 * @example
 * const informer = new Informer({ client, resource: pods, log: console.error })
 * informer.onChange((pod, old) => console.log(pod?.metadata.name ?? `${old?.metadata.name} was deleted`))
 * await informer.run(stopSignals())
 */
export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>
  readonly #transform: (object: T) => T
  readonly #store = new ObjectStore<T>()
  readonly #sharing = new StructuralSharing()
  readonly #handlers = new Set<Subscription<T>>()
  #synced = false
  #lastSyncResourceVersion = ''
  #onSynced: (() => void) | undefined

  constructor(options: InformerOptions<T>) {
    this.#options = options
    this.#transform = options.transform ?? withoutManagedFields
  }

  /** True after the first list is complete and handlers were notified of it. */
  get hasSynced(): boolean {
    return this.#synced
  }

  /**
   * The resource version of the cached state, as client-go's `LastSyncResourceVersion`; empty before the first list.
   * @example console.log(`pods as of ${informer.lastSyncResourceVersion}`)
   */
  get lastSyncResourceVersion(): string {
    return this.#lastSyncResourceVersion
  }

  /**
   * The keys of all objects: `namespace/name`, or the name of a cluster-scoped object.
   * @example for (const key of informer.keys()) queue.add(key)
   */
  keys(): Iterable<string> {
    return this.#store.keys()
  }

  /** The number of objects. */
  get size(): number {
    return this.#store.size
  }

  /** Returns the cached object, which must not be modified. `namespace` is empty for cluster-scoped objects. */
  get(namespace: string, name: string): T | undefined {
    return this.#store.byKey(namespace ? `${namespace}/${name}` : name)
  }

  /** All objects. */
  all(): Iterable<T> {
    return this.#store.all()
  }

  /** The objects in a namespace. */
  in(namespace: string): Iterable<T> {
    return this.#store.in(namespace)
  }

  /** The objects for which an index function returns `value`; builds the index on first use. */
  by(values: IndexFunction<T>, value: string): Iterable<T> {
    return this.#store.by(values, value)
  }

  /**
   * Calls `handler` for the existing objects, then for every change in order; changes are never merged. Errors of a
   * handler are logged. Returns a function that removes the handler.
   * @example const remove = informer.onChange((pod) => pod && queue.add(keyOf(pod)))
   */
  onChange(handler: ChangeHandler<T>, { resyncMs, clock = systemClock }: HandlerOptions = {}): () => void {
    const resync = (): void => {
      for (const object of this.#store.all()) this.#call(handler, object, object)
    }
    const subscription: Subscription<T> = {
      handler,
      resyncs: resyncMs ? every(clock, resyncMs, resync) : undefined,
    }
    this.#handlers.add(subscription)
    for (const object of this.#store.all()) this.#call(handler, object, undefined)
    return () => {
      this.#handlers.delete(subscription)
      subscription.resyncs?.cancel()
    }
  }

  /** Watches until `signal` is aborted; calls `synced` after the first list. Never rejects. */
  async run(signal: AbortSignal, synced: () => void = () => {}): Promise<void> {
    this.#onSynced = synced
    const { transform: _, log, failures = new FailureLog(log), ...options } = this.#options
    const sink: ReflectorSink<T> = {
      transform: (object) => this.#deduplicate(object),
      replace: (items) => this.#replace(items),
      setVersion: (version) => {
        this.#lastSyncResourceVersion = version
      },
      set: (object) => this.#set(object),
      remove: (object) => this.#remove(object),
    }
    await new Reflector({ ...options, failures, sink }).run(signal)
    for (const { resyncs } of this.#handlers) resyncs?.cancel()
  }

  #replace(items: readonly T[]): void {
    const seen = new Set(items.map(keyOf))
    // Objects that were deleted unseen: handlers get the last known state.
    for (const key of [...this.#store.keys()]) if (!seen.has(key)) this.#forget(key)
    for (const item of items) this.#set(item)
    this.#synced = true
    this.#onSynced?.()
    this.#onSynced = undefined
  }

  /** Returns the cached object if it has the same version, so that a new list allocates only changed objects. */
  #deduplicate(received: T): T {
    const object = this.#transform(received)
    const old = this.#store.byKey(keyOf(object))
    if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) return old
    this.#sharing.share(object, old)
    return object
  }

  #set(object: T): void {
    const key = keyOf(object)
    const old = this.#store.byKey(key)
    if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) return
    // A new object with the same name: the old one was deleted.
    const isReplaced = old && old.metadata.uid !== object.metadata.uid
    if (isReplaced) this.#forget(key)
    this.#store.set(key, object)
    this.#notify(object, isReplaced ? undefined : old)
  }

  /** `last` is the last state, from the server's event. */
  #remove(last: T): void {
    this.#forget(keyOf(last), this.#transform(last))
  }

  #forget(key: string, last = this.#store.byKey(key)): void {
    if (!this.#store.byKey(key)) return
    this.#store.delete(key)
    this.#notify(undefined, last)
  }

  #notify(object: T | undefined, old: T | undefined): void {
    for (const { handler } of this.#handlers) this.#call(handler, object, old)
  }

  #call(handler: ChangeHandler<T>, object: T | undefined, old: T | undefined): void {
    try {
      handler(object, old)
    } catch (error) {
      const { resource, log } = this.#options
      log(
        `a handler for ${resource.plural} failed on ${keyOf((object ?? old) as T)}: ` +
          `${error instanceof Error ? error.stack : String(error)}`,
      )
    }
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  // `delete` would turn the object into a hash table of three times the size.
  const { managedFields: _, ...metadata } = object.metadata
  object.metadata = metadata
  return object
}
