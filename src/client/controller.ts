/** A controller: what it watches, and one `reconcile` that brings what a key stands for to where it should be. Called twice, it does nothing the second time. */
import type { KubeObject } from '../machinery/object.ts'
import { StatusError } from '../machinery/status-error.ts'
import { Informer, keyOf } from './informer.ts'
import type { Resource } from './resource.ts'
import type { ListOptions, RestClient } from './rest-client.ts'
import { WorkQueue } from './work-queue.ts'

/** A kind that is watched, and whose keys are looked at when one of its objects changes. */
export interface Watched<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly selection?: ListOptions
  /** The keys to look at; that of the object itself unless said. Called with the new state and with the old one. */
  keys?(object: T, caches: Caches): Iterable<string>
}

/** Ties the type of the objects together. */
export const watched = <T extends KubeObject>(watch: Watched<T>): Watched => watch as unknown as Watched

/** What the controller's informers know. Objects must not be changed. */
export interface Caches {
  get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): T | undefined
  all<T extends KubeObject>(resource: Resource<T>): Iterable<T>
}

export interface ReconcileContext {
  readonly client: RestClient
  readonly caches: Caches
  readonly log: (line: string) => void
  /** Looks at a key once more, in so many milliseconds. */
  readonly again: (key: string, ms: number) => void
}

export interface Controller {
  /** Upstream's, as `--controllers` names it. */
  readonly name: string
  readonly watches: readonly Watched[]
  readonly concurrency?: number
  /** `key` is `namespace/name`, or a name. Rejections are tried again, with longer and longer pauses. */
  reconcile(key: string, context: ReconcileContext): Promise<void>
}

export interface RunningController {
  /** Resolves when everything that was there at the start is known. */
  readonly synced: Promise<void>
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** As whom a controller reads what it watches, and as whom it does everything else. */
export interface ControllerClients {
  readonly reader: RestClient
  readonly writer: RestClient
}

export function runController(controller: Controller, { reader, writer }: ControllerClients, log: (line: string) => void): RunningController {
  const stopping = new AbortController()
  const informers = new Map(controller.watches.map(({ resource, selection }) => [resource, new Informer({ ...selection, client: reader, resource, log })]))
  const caches: Caches = {
    get: <T extends KubeObject>(resource: Resource<T>, namespace: string, name: string) => informers.get(resource)?.get(namespace, name) as T | undefined,
    all: <T extends KubeObject>(resource: Resource<T>) => (informers.get(resource)?.all() ?? []) as Iterable<T>,
  }
  const queue = new WorkQueue({
    concurrency: controller.concurrency,
    work: (key) => controller.reconcile(key, context),
    failed: (key, error) => {
      // Somebody was faster: what they wrote will be looked at.
      if (!(error instanceof StatusError && error.code === 409)) log(`${controller.name}: ${key}: ${error instanceof Error ? error.message : String(error)}`)
    },
  })
  const context: ReconcileContext = { client: writer, caches, log, again: (key, ms) => queue.addAfter(key, ms) }
  for (const { resource, keys = ownKey } of controller.watches) {
    informers.get(resource)!.onChange((object, before) => {
      for (const state of [object, before]) if (state) for (const key of keys(state, caches)) queue.add(key)
    })
  }
  const runs: Promise<void>[] = []
  const synced = Promise.all(
    [...informers.values()].map((informer) => new Promise<void>((resolve) => runs.push(informer.run(stopping.signal, resolve).then(resolve)))),
  ).then(() => {
    // Nothing is decided before all that it is decided by is known.
    if (!stopping.signal.aborted) queue.start()
  })
  return {
    synced,
    async stop() {
      stopping.abort()
      await queue.stop()
      await Promise.all(runs)
    },
  }
}

const ownKey = (object: KubeObject): Iterable<string> => [keyOf(object)]
