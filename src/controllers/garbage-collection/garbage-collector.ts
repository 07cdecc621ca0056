/**
 * Garbage collection: deletes objects whose owners are missing, orphans dependents, and completes foreground deletes.
 */
import { once } from 'node:events'
import type { Controller, ReconcileContext } from '../../client/controller/controller.ts'
import { FailureLog } from '../../client/controller/failure-log.ts'
import type { Discovery } from '../../client/discovery/discovery.ts'
import { WorkQueue } from '../../client/queue/work-queue.ts'
import { type CounterSeries, MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { OwnerReference } from '../../machinery/object.ts'
import { AbsentOwners } from './absent-owners.ts'
import { Collector, OwnerNotObserved } from './collector.ts'
import { dotOf } from './graph/dot.ts'
import { Graph } from './graph/graph.ts'
import type { Identity } from './graph/node.ts'
import { Kinds } from './kinds.ts'
import { Monitors } from './monitors.ts'
import { Owners } from './owners.ts'

const name = 'garbage-collector-controller'
/** Upstream's names of its queues in metrics. */
const queues = {
  deletions: 'garbage_collector_attempt_to_delete',
  releases: 'garbage_collector_attempt_to_orphan',
} as const

/**
 * Concurrent objects for each upstream worker: requests mostly wait for the server's disk, and concurrent ones share
 * writes.
 */
const objectsPerWorker = 4

export interface GarbageCollectorOptions {
  readonly workers: number
  /** Default: metrics that are not exported. */
  readonly registry?: MetricsRegistry
}

/** The garbage collector. Its page `graph` is the graph of owners in dot format, optionally limited by `?uid=`. */
export function garbageCollector({ workers, registry = new MetricsRegistry() }: GarbageCollectorOptions): Controller {
  const syncErrors = registry.counter(
    'garbagecollector_controller_resources_sync_error_total',
    'Number of garbage collector resources sync errors',
  )([])
  let collection: GarbageCollection | undefined
  return {
    name,
    watches: [],
    pages: { graph: (query) => (collection ? dotOf(collection.graph, query.getAll('uid')) : '') },
    run(context, signal) {
      collection = new GarbageCollection(context, signal, workers * objectsPerWorker, syncErrors)
      return collection.run()
    },
  }
}

/** A running garbage collector: the graph, the monitors that fill it, and the queues of objects to process. */
class GarbageCollection {
  readonly graph: Graph
  readonly #signal: AbortSignal
  readonly #failures: FailureLog
  readonly #deletions: WorkQueue
  readonly #releases: WorkQueue
  readonly #monitors: Monitors
  readonly #kinds = new Kinds()
  /** Uids of objects of unknown kinds, which wait for the next discovery. */
  readonly #parked = new Set<string>()

  constructor(context: ReconcileContext, signal: AbortSignal, concurrency: number, syncErrors: CounterSeries) {
    const { client, sharedInformer, log, metrics } = context
    const absentOwners = new AbsentOwners()
    this.#signal = signal
    this.#failures = new FailureLog((line) => log(`${name}: ${line}`))
    const onFailure = (uid: string, error: unknown): void => this.#logFailure(uid, error)
    const attemptToDelete = (uid: string): Promise<void> => collector.attemptToDelete(uid)
    const attemptToOrphan = (uid: string): Promise<void> => collector.attemptToOrphan(uid)
    this.#deletions = new WorkQueue({ name: queues.deletions, metrics, concurrency, onFailure, work: attemptToDelete })
    this.#releases = new WorkQueue({ name: queues.releases, metrics, concurrency, onFailure, work: attemptToOrphan })
    this.graph = this.#createGraph(absentOwners, context)
    const collector = new Collector({
      client,
      graph: this.graph,
      kinds: this.#kinds,
      owners: new Owners(client, this.#kinds, absentOwners),
      enqueue: (uid) => this.#deletions.add(uid),
      park: (uid) => this.#parked.add(uid),
    })
    this.#monitors = new Monitors({
      client,
      sharedInformer,
      graph: this.graph,
      signal,
      failures: this.#failures,
      onFailure: () => syncErrors.add(),
      onDiscovery: (discovery) => this.#updateKinds(discovery),
    })
  }

  /** Resolves after the signal is aborted and running work has finished. */
  async run(): Promise<void> {
    await this.#monitors.start()
    if (!this.#signal.aborted) {
      this.#deletions.start()
      this.#releases.start()
      await once(this.#signal, 'abort')
    }
    await Promise.all([this.#monitors.stop(), this.#deletions.stop(), this.#releases.stop()])
  }

  #createGraph(absentOwners: AbsentOwners, { events }: ReconcileContext): Graph {
    return new Graph({
      attemptToDelete: (uid) => this.#deletions.add(uid),
      attemptToOrphan: (uid) => this.#releases.add(uid),
      absent: (owner) => absentOwners.add(owner),
      invalidNamespace: (dependent, reference) =>
        events.record(dependent, 'Warning', 'OwnerRefInvalidNamespace', invalidNamespace(dependent, reference)),
    })
  }

  /** Requeues the parked objects if kinds have changed. */
  #updateKinds(discovery: Discovery): void {
    if (!this.#kinds.replace(discovery)) return
    for (const uid of this.#parked) this.#deletions.add(uid)
    this.#parked.clear()
  }

  #logFailure(uid: string, error: unknown): void {
    // The watch is only delayed.
    if (error instanceof OwnerNotObserved || this.#signal.aborted) return
    const identity = this.graph.get(uid)?.identity
    this.#failures.record(uid, error, this.#deletions.failures(uid), identity && titleOf(identity))
  }
}

/** The object's name in the log. */
const titleOf = ({ kind, namespace, name }: Identity): string => `${kind} ${namespace ? `${namespace}/` : ''}${name}`

/** Upstream's message. */
const invalidNamespace = ({ namespace }: Identity, { apiVersion, kind, name: owner, uid }: OwnerReference): string =>
  `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${owner}, uid: ${uid}] does not exist in ` +
  `namespace ${JSON.stringify(namespace)}`
