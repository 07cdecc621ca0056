/** Metrics of work queues, under upstream's names (`workqueue_*`), with the queue's name as label. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** Called by a queue for its keys. */
export interface QueueMetrics {
  added(): void
  retried(): void
  /** A key left the queue after so many seconds. */
  taken(waitedSeconds: number): void
  /** A key was processed in so many seconds. */
  done(workedSeconds: number): void
}

/** The state of a queue at a scrape. */
export interface QueueState {
  readonly depth: number
  /** Start times of the keys in process, in ms of `performance.now()`. */
  readonly working: Iterable<number>
}

/** Creates the metrics of a queue; `state` is called at each scrape. */
export type QueueMetricsProvider = (name: string, state: () => QueueState) => QueueMetrics

/** From ten nanoseconds to a thousand seconds. */
const buckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`))

/**
 * Registers the metrics; call it once per registry.
 * @example new WorkQueue({ name: 'fleet', metrics: workQueueMetrics(registry), work, onFailure })
 */
export function workQueueMetrics(registry: MetricsRegistry): QueueMetricsProvider {
  const queues = new Map<string, (() => QueueState)[]>()
  // Queues with the same name are added up.
  const perQueue = (read: (state: QueueState) => number) => () =>
    [...queues].map(([name, states]) => [[name], states.reduce((sum, state) => sum + read(state()), 0)] as const)
  const labels = ['name']
  const adds = registry.counter('workqueue_adds_total', 'Total number of adds handled by workqueue', labels)
  registry.gauge(
    'workqueue_depth',
    'Current depth of workqueue',
    labels,
    perQueue(({ depth }) => depth),
  )
  registry.gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running.',
    labels,
    perQueue(({ working }) => Math.max(0, ...ages(working))),
  )
  const waits = registry.histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested.',
    buckets,
    labels,
  )
  const retries = registry.counter('workqueue_retries_total', 'Total number of retries handled by workqueue', labels)
  registry.gauge(
    'workqueue_unfinished_work_seconds',
    "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large " +
      'values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which ' +
      'this increases.',
    labels,
    perQueue(({ working }) => ages(working).reduce((sum, age) => sum + age, 0)),
  )
  const work = registry.histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes.',
    buckets,
    labels,
  )
  return (name, state) => {
    queues.set(name, [...(queues.get(name) ?? []), state])
    const [added, retried, waited, worked] = [adds([name]), retries([name]), waits([name]), work([name])]
    return {
      added: () => added.add(),
      retried: () => retried.add(),
      taken: (seconds) => waited.observe(seconds),
      done: (seconds) => worked.observe(seconds),
    }
  }
}

const ages = (since: Iterable<number>): number[] => [...since].map((began) => (performance.now() - began) / 1000)
