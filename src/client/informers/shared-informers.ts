/** Informers that many share: each kind (or selection of it) is listed and watched once, whoever looks at it. */
import type { KubeObject } from '../../machinery/object.ts'
import { FailureLog } from '../controller/failure-log.ts'
import { collectionPath, type Resource } from '../resource.ts'
import type { ListOptions, RestClient } from '../rest/rest-client.ts'
import { Informer } from './informer.ts'

/** What is kept of the objects of a kind, where that is not all of them. */
export interface Transformed<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  /** As an informer's: the object may be changed. Not for those of which only metadata are read. */
  readonly transform: (object: T) => T
}

/** Ties the type of the objects together. */
export const transformed = <T extends KubeObject>(keep: Transformed<T>): Transformed => keep as unknown as Transformed

/** An informer that others have, too. */
export interface SharedInformer {
  readonly informer: Informer<KubeObject>
  /** Resolves when all objects are known, or when all of it is stopped. */
  readonly synced: Promise<void>
}

interface Running extends SharedInformer {
  readonly ended: Promise<void>
}

export class SharedInformers {
  readonly #client: RestClient
  readonly #log: (line: string) => void
  readonly #transforms: ReadonlyMap<string, (object: KubeObject) => KubeObject>
  /** A server that is away is so for all of them. */
  readonly #failures: FailureLog
  readonly #running = new Map<string, Running>()
  readonly #stopping = new AbortController()

  constructor(client: RestClient, log: (line: string) => void, keep: readonly Transformed[] = []) {
    this.#client = client
    this.#log = log
    this.#transforms = new Map(keep.map(({ resource, transform }) => [collectionPath(resource), transform]))
    this.#failures = new FailureLog(log)
  }

  /** The informer of a kind or of a part of it; runs from when it is first asked for until `stop`. */
  of<T extends KubeObject>(resource: Resource<T>, selection: ListOptions = {}): Informer<T> {
    return this.#of(resource, selection).informer as unknown as Informer<T>
  }

  /** Resolves when all objects are known, or when all of it is stopped. */
  synced(resource: Resource, selection: ListOptions = {}): Promise<void> {
    return this.#of(resource, selection).synced
  }

  /** The informer of all objects of a kind, if it runs. */
  followed(resource: Resource): SharedInformer | undefined {
    return this.#running.get(followedKey(resource, {}))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  #of(resource: Resource, selection: ListOptions): Running {
    const key = followedKey(resource, selection)
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

const followedKey = (
  resource: Resource,
  { namespace, fieldSelector = '', labelSelector = '', metadataOnly = false }: ListOptions,
): string => [collectionPath(resource, namespace), fieldSelector, labelSelector, metadataOnly].join('?')
