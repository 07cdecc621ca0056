/** Informers that several controllers share: each kind, or selection of a kind, is listed and watched once. */
import type { KubeObject } from '../../machinery/object.ts'
import { FailureLog } from '../controller/failure-log.ts'
import { collectionPath, type Resource } from '../resource.ts'
import type { ListOptions, RestClient } from '../rest/rest-client.ts'
import { Informer } from './informer.ts'

/** A kind whose objects are transformed before they are cached. */
export interface Transformed<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  /** May modify the object. Not called for informers with `metadataOnly`. */
  readonly transform: (object: T) => T
}

/**
 * Checks the types of a transform, for the constructor of `SharedInformers`.
 * @example new SharedInformers(client, console.error, [transformed({ resource: pods, transform: withoutStatus })])
 */
export const transformed = <T extends KubeObject>(transform: Transformed<T>): Transformed =>
  transform as unknown as Transformed

/** A shared informer and its state. */
export interface SharedInformer {
  readonly informer: Informer<KubeObject>
  /** Resolves when the first list is complete, or when the informers are stopped. */
  readonly synced: Promise<void>
}

interface Running extends SharedInformer {
  readonly ended: Promise<void>
}

/**
 * A set of informers that controllers share.
 * @example
 * const informers = new SharedInformers(client, console.error)
 * await informers.synced(pods)
 * const pod = informers.of(pods).get('default', 'web')
 * await informers.stop()
 */
export class SharedInformers {
  readonly #client: RestClient
  readonly #log: (line: string) => void
  readonly #transforms: ReadonlyMap<string, (object: KubeObject) => KubeObject>
  /** Shared, so that an unreachable server is logged once. */
  readonly #failures: FailureLog
  readonly #running = new Map<string, Running>()
  readonly #stopping = new AbortController()

  constructor(client: RestClient, log: (line: string) => void, transforms: readonly Transformed[] = []) {
    this.#client = client
    this.#log = log
    this.#transforms = new Map(transforms.map(({ resource, transform }) => [collectionPath(resource), transform]))
    this.#failures = new FailureLog(log)
  }

  /** Returns the informer of a kind or of a selection of it; starts it on first use. */
  of<T extends KubeObject>(resource: Resource<T>, selection: ListOptions = {}): Informer<T> {
    return this.#of(resource, selection).informer as unknown as Informer<T>
  }

  /** Resolves when the first list is complete, or when the informers are stopped. */
  synced(resource: Resource, selection: ListOptions = {}): Promise<void> {
    return this.#of(resource, selection).synced
  }

  /** Returns the informer of all objects of a kind if it is running. */
  find(resource: Resource): SharedInformer | undefined {
    return this.#running.get(informerKey(resource, {}))
  }

  /** Stops all informers. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  #of(resource: Resource, selection: ListOptions): Running {
    const key = informerKey(resource, selection)
    let running = this.#running.get(key)
    if (!running) {
      const transform = selection.metadataOnly ? undefined : this.#transforms.get(collectionPath(resource))
      const informer = new Informer({
        ...selection,
        client: this.#client,
        resource,
        transform,
        log: this.#log,
        failures: this.#failures,
      })
      const { promise: synced, resolve } = Promise.withResolvers<void>()
      running = { informer, synced, ended: informer.run(this.#stopping.signal, resolve).then(resolve) }
      this.#running.set(key, running)
    }
    return running
  }
}

const informerKey = (
  resource: Resource,
  { namespace, fieldSelector = '', labelSelector = '', metadataOnly = false }: ListOptions,
): string => [collectionPath(resource, namespace), fieldSelector, labelSelector, metadataOnly].join('?')
