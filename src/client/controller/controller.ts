/** Runs a controller: watches kinds, queues keys on changes, and calls an idempotent `reconcile` for each key. */
import { type Clock, systemClock } from '../../lib/clock/clock.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { EventRecorder } from '../events/event-recorder.ts'
import { type Informer, keyOf } from '../informers/informer.ts'
import type { IndexFunction } from '../informers/object-index.ts'
import type { SharedInformer, SharedInformers } from '../informers/shared-informers.ts'
import type { QueueMetricsProvider } from '../queue/queue-metrics.ts'
import { type DelayOptions, WorkQueue } from '../queue/work-queue.ts'
import type { Resource } from '../resource.ts'
import type { ListOptions, RestClient } from '../rest/rest-client.ts'
import { FailureLog } from './failure-log.ts'

/** A watched kind, and the keys to queue when one of its objects changes. */
export interface WatchedKind<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly selection?: ListOptions
  /** Returns the keys to queue; called for the new and the old object. Default: the key of the object. */
  keys?(object: T, caches: Caches): Iterable<string>
  /**
   * Returns true if a change needs a reconcile. Default: all changes. `object` is undefined after a deletion, `old` for
   * a new object.
   */
  when?(object: T | undefined, old: T | undefined): boolean
  /**
   * Returns the delay before a key is queued, in ms of real time. Changes during the delay share one reconcile, for
   * reconciles that are expensive. Default: 0.
   */
  delayMs?(key: string, caches: Caches): number
  /**
   * Called on each change before its keys are queued. `object` is undefined after a deletion, `old` for a new object.
   */
  onChange?(object: T | undefined, old: T | undefined, context: ReconcileContext): void
}

/**
 * Checks the types of a watched kind, for the `watches` of a `Controller`.
 * @example watch({ resource: pods, keys: (pod) => [pod.spec?.nodeName ?? ''] })
 */
export const watch = <T extends KubeObject>(watch: WatchedKind<T>): WatchedKind => watch as unknown as WatchedKind

/**
 * A kind that a controller reads from its caches; changes queue no keys.
 * @example const watches = [watch({ resource: fleets }), reads(nodes)]
 */
export const reads = <T extends KubeObject>(resource: Resource<T>, selection?: ListOptions): WatchedKind =>
  watch({ resource, selection, keys: () => [] })

/** The caches of a controller's informers. Objects are shared and must not be modified. */
export interface Caches {
  /** Returns an object, or undefined if it does not exist. `namespace` is empty for cluster-scoped objects. */
  get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): T | undefined
  all<T extends KubeObject>(resource: Resource<T>): Iterable<T>
  /** The objects in a namespace. */
  in<T extends KubeObject>(resource: Resource<T>, namespace: string): Iterable<T>
  /** The objects for which `index` returns `value`. Pass the same function each time: its identity is the key. */
  by<T extends KubeObject>(resource: Resource<T>, index: IndexFunction<T>, value: string): Iterable<T>
}

/** The tools of a controller while it reconciles an object. */
export interface ReconcileContext {
  readonly client: RestClient
  readonly caches: Caches
  /** Returns the informer of a kind if it is running, for controllers that discover kinds at run time. */
  sharedInformer(resource: Resource): SharedInformer | undefined
  readonly events: EventRecorder
  readonly log: (line: string) => void
  /** For metrics of the controller's own queues. */
  readonly metrics?: QueueMetricsProvider
  /** The time of the cluster, for timestamps and waits. */
  readonly clock: Clock
  /** Queues a key, immediately or after `ms` of the clock. */
  readonly requeue: (key: string, ms?: number, options?: DelayOptions) => void
}

/** A controller as a value: `controller` makes one, a manager runs it. */
export interface Controller {
  /** Name of the controller; upstream's for built-in ones, as in `--controllers`. */
  readonly name: string
  /** `source.component` of its events. Default: the name. */
  readonly component?: string
  readonly watches: readonly WatchedKind[]
  readonly concurrency?: number
  /** Name of its queue in metrics (`workqueue_*`). Default: the name. */
  readonly queue?: string
  /** `key` is `namespace/name`, or a name. A rejection is retried with exponential back-off. */
  reconcile?(key: string, context: ReconcileContext): Promise<void>
  /** Debug pages: render text for `/debug/controllers/NAME/PATH`, by PATH. */
  readonly pages?: Readonly<Record<string, (query: URLSearchParams) => string>>
  /**
   * Runs beside the keys, for example periodic work; starts when the caches are synced. Should end soon after `signal`
   * is aborted, and must not reject.
   */
  run?(context: ReconcileContext, signal: AbortSignal): Promise<void>
}

/** A controller that `runController` has started. */
export interface RunningController {
  /** Resolves when the caches are synced. */
  readonly synced: Promise<void>
  /** Stops the controller; resolves when current reconciles are done. */
  stop(): Promise<void>
}

/** The informers a controller reads from and the client it writes with. */
export interface ControllerClients {
  readonly informers: SharedInformers
  readonly client: RestClient
  /** For metrics of the queue. */
  readonly metrics?: QueueMetricsProvider
  /** For events and requeues after a time. Default: the clock of the machine. */
  readonly clock?: Clock
}

/**
 * Starts a controller; it processes keys after its caches are synced. `log` gets failures.
 * @example
 * const informers = new SharedInformers(client, console.error)
 * const running = runController(fleetController, { informers, client }, console.error)
 * await running.synced
 */
export function runController(
  controller: Controller,
  { informers, client, metrics, clock = systemClock }: ControllerClients,
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
    clock,
    work: async (key) => controller.reconcile?.(key, context),
    onFailure: (key, error) => failures.record(key, error, queue.failures(key)),
  })
  const context: ReconcileContext = {
    client,
    caches,
    sharedInformer: (resource) => informers.find(resource),
    events: new EventRecorder(client, component, log, () => clock.now()),
    log,
    metrics,
    clock,
    requeue: (key, ms = 0, options = {}) => (ms > 0 ? queue.addAfter(key, ms, options) : queue.add(key, options)),
  }
  for (const { resource, selection, keys = ownKey, delayMs, when, onChange } of watches) {
    informers.of(resource, selection).onChange((object, old) => {
      if (stopping.signal.aborted) return
      onChange?.(object, old, context)
      if (when && !when(object, old)) return
      for (const state of [object, old])
        if (state)
          for (const key of keys(state, caches)) context.requeue(key, delayMs?.(key, caches), { isRealTime: true })
    })
  }
  let running: Promise<void> | undefined
  const synced = Promise.all(watches.map(({ resource, selection }) => informers.synced(resource, selection))).then(
    () => {
      // Reconcile only with complete caches.
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
