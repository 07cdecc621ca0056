/** The scheduler's metrics, under upstream's names. */
import { exponentialBuckets } from '../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { unhandledErrors } from '../../lib/process/unhandled-errors.ts'
import type { SchedulerCache } from '../cache/cache.ts'
import type { ClusterEvent } from '../framework/cluster-events.ts'
import { eventLabel } from '../queue/event-label.ts'
import type { SchedulingQueue } from '../queue/scheduling-queue.ts'
import { PluginMetrics } from './plugin-metrics.ts'

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error'

export class SchedulerMetrics {
  readonly registry = new MetricsRegistry()
  readonly plugins = new PluginMetrics(this.registry)
  readonly #attempts = this.registry.counter(
    'scheduler_schedule_attempts_total',
    "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, " +
      "while 'error' means an internal scheduler problem.",
    ['result', 'profile'],
  )
  readonly #attemptDuration = this.registry.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    'Scheduling attempt latency in seconds (scheduling algorithm + binding)',
    exponentialBuckets(0.001, 2, 15),
    ['result', 'profile'],
  )
  readonly #algorithmDuration = this.registry.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    'Scheduling algorithm latency in seconds',
    exponentialBuckets(0.001, 2, 15),
  )([])
  readonly #sliDuration = this.registry.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve ' +
      'multiple scheduling attempts.',
    exponentialBuckets(0.01, 2, 20),
    ['attempts'],
  )
  readonly #podAttempts = this.registry.histogram(
    'scheduler_pod_scheduling_attempts',
    'Number of attempts to successfully schedule a pod.',
    exponentialBuckets(1, 2, 5),
  )([])
  readonly #incoming = this.registry.counter(
    'scheduler_queue_incoming_pods_total',
    'Number of pods added to scheduling queues by event and queue type.',
    ['queue', 'event'],
  )
  readonly #victims = this.registry.histogram(
    'scheduler_preemption_victims',
    'Number of selected preemption victims for preemption initiated by a single pod',
    exponentialBuckets(1, 2, 7),
  )([])
  readonly #preemptions = this.registry.counter(
    'scheduler_preemption_attempts_total',
    'Total preemption attempts in the cluster till now',
  )([])
  readonly #permitWait = this.registry.histogram(
    'scheduler_permit_wait_duration_seconds',
    'Duration of waiting on permit.',
    exponentialBuckets(0.001, 2, 15),
    ['result'],
  )
  readonly #eventHandling = this.registry.histogram(
    'scheduler_event_handling_duration_seconds',
    'Event handling latency in seconds.',
    exponentialBuckets(0.0001, 2, 12),
    ['event'],
  )

  /** Registers gauges that read the queue, the cache, and the number of bindings in progress. */
  watch(queue: SchedulingQueue, cache: SchedulerCache, binding: () => number): void {
    const unhandled = 'Errors that no code of this process handled: each is logged with its stack.'
    this.registry.externalCounter('scheduler_unhandled_errors_total', unhandled, [], () => [[[], unhandledErrors()]])
    this.registry.gauge(
      'scheduler_goroutines',
      'Number of running goroutines split by the work they do such as binding.',
      ['operation'],
      () => [[['binding'], binding()]],
    )
    this.registry.gauge(
      'scheduler_pending_pods',
      "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means " +
        "number of pods in backoffQ; 'unschedulable' means number of pods in unschedulableEntities that the " +
        "scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler " +
        'never attempted to schedule because they are gated.',
      ['queue'],
      () => Object.entries(queue.sizes()).map(([part, size]) => [[part], size]),
    )
    this.registry.gauge(
      'scheduler_cache_size',
      'Number of nodes, pods, and assumed (bound) pods in the scheduler cache.',
      ['type'],
      () => [
        [['nodes'], cache.nodes.length],
        [['pods'], cache.podCount],
        [['assumed_pods'], cache.assumedCount],
      ],
    )
    this.registry.gauge(
      'scheduler_unschedulable_pods',
      'The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all ' +
        'plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.',
      ['plugin', 'profile'],
      () => {
        const counts = new Map<string, number>()
        for (const { rejectedBy, pod } of queue.all())
          for (const plugin of rejectedBy) {
            const key = JSON.stringify([plugin, pod.pod.spec?.schedulerName ?? ''])
            counts.set(key, (counts.get(key) ?? 0) + 1)
          }
        return [...counts].map(([key, count]) => [JSON.parse(key) as string[], count])
      },
    )
  }

  countIncoming(queue: string, event: string): void {
    this.#incoming([queue, event]).add()
  }

  observeAttempt(result: AttemptResult, profile: string, ms: number): void {
    this.#attempts([result, profile]).add()
    this.#attemptDuration([result, profile]).observe(ms / 1000)
  }

  observeDecision(ms: number): void {
    this.#algorithmDuration.observe(ms / 1000)
  }

  /** `ms` since the first attempt. */
  observeScheduled(attempts: number, ms: number): void {
    this.#podAttempts.observe(attempts)
    // Upstream groups all attempts after the fifteenth.
    this.#sliDuration([attempts > 15 ? '15+' : `${attempts}`]).observe(ms / 1000)
  }

  observePreemption(victims: number): void {
    this.#preemptions.add()
    this.#victims.observe(victims)
  }

  /** Observes the time since the event arrived (`began`, of `performance.now()`), with cache and queue updated. */
  observeEvent(event: ClusterEvent, began: number): void {
    this.#eventHandling([eventLabel(event)]).observe((performance.now() - began) / 1000)
  }

  observePermitWait(result: string, ms: number): void {
    this.#permitWait([result]).observe(ms / 1000)
  }
}
