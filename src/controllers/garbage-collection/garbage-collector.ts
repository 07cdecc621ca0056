/**
 * Garbage collection: deletes objects whose owners are missing, orphans dependents, and completes foreground deletes.
 */
import { once } from 'node:events'
import type { Controller, ReconcileContext } from '../../client/controller/controller.ts'
import { FailureLog } from '../../client/controller/failure-log.ts'
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
  let graph: Graph | undefined
  return {
    name,
    watches: [],
    pages: { graph: (query) => (graph ? dotOf(graph, query.getAll('uid')) : '') },
    run: (context, signal) =>
      collect(context, signal, workers * objectsPerWorker, syncErrors, (onStart) => {
        graph = onStart
      }),
  }
}

/** Resolves after `signal` is aborted and running work has finished. `onStart` receives the graph. */
async function collect(
  { client, sharedInformer, events, log, metrics }: ReconcileContext,
  signal: AbortSignal,
  concurrency: number,
  syncErrors: CounterSeries,
  begun: (graph: Graph) => void,
): Promise<void> {
  const kinds = new Kinds()
  const absent = new AbsentOwners()
  const parked = new Set<string>()
  const failures = new FailureLog((line) => log(`${name}: ${line}`))
  const failed = (uid: string, error: unknown): void => {
    // The watch is only delayed.
    if (error instanceof OwnerNotObserved || signal.aborted) return
    const of = graph.get(uid)?.identity
    failures.record(
      uid,
      error,
      deletions.failures(uid),
      of && `${of.kind} ${of.namespace ? `${of.namespace}/` : ''}${of.name}`,
    )
  }
  const deletions: WorkQueue = new WorkQueue({
    name: queues.deletions,
    metrics,
    concurrency,
    onFailure: failed,
    work: (uid) => collector.attemptToDelete(uid),
  })
  const releases: WorkQueue = new WorkQueue({
    name: queues.releases,
    metrics,
    concurrency,
    onFailure: failed,
    work: (uid) => collector.attemptToOrphan(uid),
  })
  const graph: Graph = new Graph({
    attemptToDelete: (uid) => deletions.add(uid),
    attemptToOrphan: (uid) => releases.add(uid),
    absent: (owner) => absent.add(owner),
    invalidNamespace: (dependent, reference) =>
      events.record(dependent, 'Warning', 'OwnerRefInvalidNamespace', invalidNamespace(dependent, reference)),
  })
  begun(graph)
  const collector: Collector = new Collector({
    client,
    graph,
    kinds,
    owners: new Owners(client, kinds, absent),
    enqueue: (uid) => deletions.add(uid),
    park: (uid) => parked.add(uid),
  })
  const monitors = new Monitors({
    client,
    sharedInformer,
    graph,
    signal,
    failures,
    onFailure: () => syncErrors.add(),
    onDiscovery(discovery) {
      if (!kinds.replace(discovery)) return
      for (const uid of parked) deletions.add(uid)
      parked.clear()
    },
  })
  await monitors.start()
  if (!signal.aborted) {
    deletions.start()
    releases.start()
    await once(signal, 'abort')
  }
  await Promise.all([monitors.stop(), deletions.stop(), releases.stop()])
}

/** Upstream's message. */
const invalidNamespace = ({ namespace }: Identity, { apiVersion, kind, name: owner, uid }: OwnerReference): string =>
  `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${owner}, uid: ${uid}] does not exist in ` +
  `namespace ${JSON.stringify(namespace)}`
