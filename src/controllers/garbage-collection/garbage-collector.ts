/**
 * Deletes what is owned by nothing that is there, releases what is to stay, and lets owners go after their dependents.
 */
import { once } from 'node:events'
import type { Controller, ReconcileContext } from '../../client/controller/controller.ts'
import { FailureLog } from '../../client/controller/failure-log.ts'
import { WorkQueue } from '../../client/queue/work-queue.ts'
import { type CounterSeries, MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { OwnerReference } from '../../machinery/object.ts'
import { AbsentOwners } from './absent-owners.ts'
import { Collector, NotSeenYet } from './collector.ts'
import { dotOf } from './graph/dot.ts'
import { Graph } from './graph/graph.ts'
import type { Identity } from './graph/node.ts'
import { Kinds } from './kinds.ts'
import { Monitors } from './monitors.ts'
import { Owners } from './owners.ts'

const name = 'garbage-collector-controller'
/** Upstream's names of its queues, in metrics. */
const queues = {
  deletions: 'garbage_collector_attempt_to_delete',
  releases: 'garbage_collector_attempt_to_orphan',
} as const

/**
 * What one worker of upstream's is here: requests wait for the server's disk most of the time, and those that wait
 * together share its writes.
 */
const objectsPerWorker = 4

export interface GarbageCollectorOptions {
  readonly workers: number
  /** Where it counts; nobody sees it unless said. */
  readonly registry?: MetricsRegistry
}

/**
 * Its page `graph` is what it knows of owners and dependents, as dot: all of it, or what is tied to the objects of
 * `?uid=`.
 */
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
      collect(context, signal, workers * objectsPerWorker, syncErrors, (begun) => {
        graph = begun
      }),
  }
}

/** Ends when `signal` is aborted and what is under way is done. `begun` is told of the graph. */
async function collect(
  { client, sharedInformer: followed, events, log, metrics }: ReconcileContext,
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
    // A watch is late.
    if (error instanceof NotSeenYet || signal.aborted) return
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
    again: (uid) => deletions.add(uid),
    park: (uid) => parked.add(uid),
  })
  const monitors = new Monitors({
    client,
    followed,
    graph,
    signal,
    failures,
    failed: () => syncErrors.add(),
    discovered(discovery) {
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

/** Kubernetes' words. */
const invalidNamespace = ({ namespace }: Identity, { apiVersion, kind, name: owner, uid }: OwnerReference): string =>
  `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${owner}, uid: ${uid}] does not exist in ` +
  `namespace ${JSON.stringify(namespace)}`
