/** What is counted of work queues, under upstream's names (`workqueue_*`), with the name of the queue as label. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** Told by a queue of what becomes of its keys. */
export interface QueueMetrics {
  added(): void
  retried(): void
  /** A key is taken from the queue after so many seconds. */
  taken(waitedSeconds: number): void
  /** Work on a key has ended, which took so many seconds. */
  done(workedSeconds: number): void
}

/** What a queue tells when it is asked. */
export interface QueueState {
  readonly depth: number
  /** Since when each key is worked on, in ms of `performance.now()`. */
  readonly working: Iterable<number>
}

/** Gives a queue its metrics; `state` is asked when they are read. */
export type QueueMetricsProvider = (name: string, state: () => QueueState) => QueueMetrics

/** From ten nanoseconds to a thousand seconds. */
const buckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`))

/** To be called once for each registry. */
export function workQueueMetrics(registry: MetricsRegistry): QueueMetricsProvider {
  const queues = new Map<string, (() => QueueState)[]>()
  // Queues of one name are counted as one.
  const each = (read: (state: QueueState) => number) => () =>
    [...queues].map(([name, states]) => [[name], states.reduce((sum, state) => sum + read(state()), 0)] as const)
  const labels = ['name']
  const adds = registry.counter('workqueue_adds_total', 'Total number of adds handled by workqueue', labels)
  registry.gauge(
    'workqueue_depth',
    'Current depth of workqueue',
    labels,
    each(({ depth }) => depth),
  )
  registry.gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running.',
    labels,
    each(({ working }) => Math.max(0, ...ages(working))),
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
    each(({ working }) => ages(working).reduce((sum, age) => sum + age, 0)),
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
