/**
 * A controller: what it watches, and one `reconcile` that brings what a key stands for to where it should be. Called
 * twice, it does nothing the second time.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { EventRecorder } from '../events/event-recorder.ts'
import { type Informer, keyOf } from '../informers/informer.ts'
import type { IndexFunction } from '../informers/object-index.ts'
import type { SharedInformer, SharedInformers } from '../informers/shared-informers.ts'
import type { QueueMetricsProvider } from '../queue/queue-metrics.ts'
import { WorkQueue } from '../queue/work-queue.ts'
import type { Resource } from '../resource.ts'
import type { ListOptions, RestClient } from '../rest/rest-client.ts'
import { FailureLog } from './failure-log.ts'

/** A kind that is watched, and whose keys are looked at when one of its objects changes. */
export interface WatchedKind<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly selection?: ListOptions
  /** The keys to look at; that of the object itself unless said. Called with the new state and with the old one. */
  keys?(object: T, caches: Caches): Iterable<string>
  /**
   * Whether a change is worth a look; all are unless said. `object` is undefined where it has gone, `before` where it
   * is new.
   */
  when?(object: T | undefined, before: T | undefined): boolean
  /**
   * How much later a change has its key looked at, in ms: what costs much to look at is looked at once for many
   * changes. At once unless said.
   */
  delayMs?(key: string, caches: Caches): number
  /**
   * Told of a change before its keys are looked at; `object` is undefined where it has gone, `before` where it is new.
   */
  changed?(object: T | undefined, before: T | undefined, context: ReconcileContext): void
}

/** Ties the type of the objects together. */
export const watch = <T extends KubeObject>(watch: WatchedKind<T>): WatchedKind => watch as unknown as WatchedKind

/** A kind that is looked at, but brings nothing to be looked at. */
export const reads = <T extends KubeObject>(resource: Resource<T>, selection?: ListOptions): WatchedKind =>
  watch({ resource, selection, keys: () => [] })

/** What the controller's informers know. Objects must not be changed: they are shared with other controllers. */
export interface Caches {
  get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): T | undefined
  all<T extends KubeObject>(resource: Resource<T>): Iterable<T>
  /** Those of a namespace. */
  in<T extends KubeObject>(resource: Resource<T>, namespace: string): Iterable<T>
  /** Those for which `index`, a function that is always the same one, gives a value. */
  by<T extends KubeObject>(resource: Resource<T>, index: IndexFunction<T>, value: string): Iterable<T>
}

export interface ReconcileContext {
  readonly client: RestClient
  readonly caches: Caches
  /**
   * The informer of all objects of a kind, if somebody has it run already: for those who follow kinds that they learn
   * of while they run.
   */
  sharedInformer(resource: Resource): SharedInformer | undefined
  readonly events: EventRecorder
  readonly log: (line: string) => void
  /** Where queues of its own are counted. */
  readonly metrics?: QueueMetricsProvider
  /** Looks at a key once more: at once, or in so many milliseconds. */
  readonly requeue: (key: string, ms?: number) => void
}

export interface Controller {
  /** Upstream's, as `--controllers` names it. */
  readonly name: string
  /** As whom events are told (`source.component`); the name unless said. */
  readonly component?: string
  readonly watches: readonly WatchedKind[]
  readonly concurrency?: number
  /** What its queue is called in metrics (`workqueue_*`); the name unless said. */
  readonly queue?: string
  /** `key` is `namespace/name`, or a name. Rejections are tried again, with longer and longer pauses. */
  reconcile?(key: string, context: ReconcileContext): Promise<void>
  /** What it knows, as text for people, by the last part of a page's path (`/debug/controllers/NAME/PATH`). */
  readonly pages?: Readonly<Record<string, (query: URLSearchParams) => string>>
  /**
   * What goes on beside the keys, such as a period; begins when what is watched is known. Should end soon after
   * `signal` is aborted, and never reject.
   */
  run?(context: ReconcileContext, signal: AbortSignal): Promise<void>
}

export interface RunningController {
  /** Resolves when everything that was there at the start is known. */
  readonly synced: Promise<void>
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** Through what a controller sees, and as whom it acts. */
export interface ControllerClients {
  readonly informers: SharedInformers
  readonly client: RestClient
  /** Where queues are counted. */
  readonly metrics?: QueueMetricsProvider
}

/**
 * Runs a controller until it is stopped: when all that it watches is known, keys are looked at. `log` is told of what
 * fails.
 */
export function runController(
  controller: Controller,
  { informers, client, metrics }: ControllerClients,
  log: (line: string) => void,
): RunningController {
  const { name, component = name, watches, concurrency } = controller
  const caches = cachesOf(watches, informers)
  const stopping = new AbortController()
  const failures = new FailureLog((line) => log(`${name}: ${line}`))
  const queue: WorkQueue = new WorkQueue({
    name: controller.queue ?? name,
    metrics,
    concurrency,
    work: async (key) => controller.reconcile?.(key, context),
    failed: (key, error) => failures.failed(key, error, queue.failures(key)),
  })
  const context: ReconcileContext = {
    client,
    caches,
    sharedInformer: (resource) => informers.followed(resource),
    events: new EventRecorder(client, component, log),
    log,
    metrics,
    requeue: (key, ms = 0) => (ms > 0 ? queue.addAfter(key, ms) : queue.add(key)),
  }
  for (const { resource, selection, keys = ownKey, delayMs: restMs, when, changed } of watches) {
    informers.of(resource, selection).onChange((object, before) => {
      if (stopping.signal.aborted) return
      changed?.(object, before, context)
      if (when && !when(object, before)) return
      for (const state of [object, before])
        if (state) for (const key of keys(state, caches)) context.requeue(key, restMs?.(key, caches))
    })
  }
  let running: Promise<void> | undefined
  const synced = Promise.all(watches.map(({ resource, selection }) => informers.synced(resource, selection))).then(
    () => {
      // Nothing is decided before all that it is decided by is known.
      if (stopping.signal.aborted) return
      queue.start()
      running = controller.run?.(context, stopping.signal)
    },
  )
  return {
    synced,
    async stop() {
      stopping.abort()
      await queue.stop()
      await running
      context.events.stop()
    },
  }
}

function cachesOf(watches: readonly WatchedKind[], informers: SharedInformers): Caches {
  const known = new Map(watches.map(({ resource, selection }) => [resource, informers.of(resource, selection)]))
  const informer = <T extends KubeObject>(resource: Resource<T>) => {
    const found = known.get(resource)
    if (!found) throw new Error(`${resource.plural} are not watched by this controller`)
    return found as unknown as Informer<T>
  }
  return {
    get: (resource, namespace, name) => informer(resource).get(namespace, name),
    all: (resource) => informer(resource).all(),
    in: (resource, namespace) => informer(resource).in(namespace),
    by: (resource, index, value) => informer(resource).by(index, value),
  }
}

const ownKey = (object: KubeObject): Iterable<string> => [keyOf(object)]
