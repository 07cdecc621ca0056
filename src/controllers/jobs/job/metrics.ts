/** Metrics of the Job controller (`job_controller_*`). */
import type { Job, Pod } from '../../../client/kinds.ts'
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { hasEnded } from '../../pods/phase.ts'
import type { JobCondition } from '../finished.ts'
import type { JobState } from './decisions/state.ts'
import { countOf, parseIndexes } from './indexes.ts'
import { isIndexed, isTracked } from './pods.ts'

/** The main action of a reconcile. */
export type SyncAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted'

export class JobMetrics {
  readonly #syncSeconds
  readonly #syncs
  readonly #finished
  readonly #podsFinished
  readonly #indexesFinished
  readonly #policyFailures
  readonly #tracked
  readonly #podCreations
  readonly #managedElsewhere

  constructor(registry = new MetricsRegistry()) {
    const counter = (name: string, help: string, labels: readonly string[]) =>
      registry.counter(`job_controller_${name}`, help, labels)
    const syncLabels = ['completion_mode', 'result', 'action']
    this.#syncSeconds = registry.histogram(
      'job_controller_job_sync_duration_seconds',
      'The time it took to sync a job',
      exponentialBuckets(0.004, 2, 15),
      syncLabels,
    )
    this.#syncs = counter('job_syncs_total', 'The number of job syncs', syncLabels)
    this.#finished = counter('jobs_finished_total', 'The number of finished jobs', [
      'completion_mode',
      'result',
      'reason',
    ])
    this.#podsFinished = counter('job_pods_finished_total', 'The number of finished Pods that are fully tracked', [
      'completion_mode',
      'result',
    ])
    this.#indexesFinished = counter('job_finished_indexes_total', 'The number of finished indexes.', [
      'status',
      'backoffLimit',
    ])
    this.#policyFailures = counter(
      'pod_failures_handled_by_failure_policy_total',
      'The number of failed Pods handled by failure policy with respect to the failure policy action applied ' +
        'based on the matched rule.',
      ['action'],
    )
    this.#tracked = counter(
      'terminated_pods_tracking_finalizer_total',
      'The number of terminated pods (phase=Failed|Succeeded) that have the finalizer ' +
        'batch.kubernetes.io/job-tracking. The event label can be "add" or "delete".',
      ['event'],
    )
    this.#podCreations = counter(
      'job_pods_creation_total',
      'The number of Pods created by the Job controller labelled with a reason for the Pod creation.',
      ['reason', 'status'],
    )
    this.#managedElsewhere = counter(
      'jobs_by_external_controller_total',
      'The number of Jobs managed by an external controller',
      ['controller_name'],
    )
  }

  observeSync(job: Job, action: SyncAction, isDone: boolean, seconds: number): void {
    const labels = [modeOf(job), isDone ? 'success' : 'error', action]
    this.#syncSeconds(labels).observe(seconds)
    this.#syncs(labels).add()
  }

  countFinished(job: Job, { type, reason = '' }: JobCondition): void {
    this.#finished([modeOf(job), type === 'Complete' ? 'succeeded' : 'failed', reason]).add()
  }

  /** Counts the pods and indexes that were added to the status. */
  countPods(job: Job, previous: Job['status'] = {}): void {
    const { status = {} } = job
    let succeeded = (status.succeeded ?? 0) - (previous.succeeded ?? 0)
    if (isIndexed(job)) {
      const limit = job.spec?.backoffLimitPerIndex === undefined ? 'global' : 'perIndex'
      const more = (list: 'completedIndexes' | 'failedIndexes'): number =>
        indexCount(status[list]) - indexCount(previous[list])
      succeeded = more('completedIndexes')
      this.#add(this.#indexesFinished(['succeeded', limit]), succeeded)
      this.#add(this.#indexesFinished(['failed', limit]), more('failedIndexes'))
    }
    this.#add(this.#podsFinished([modeOf(job), 'succeeded']), succeeded)
    this.#add(this.#podsFinished([modeOf(job), 'failed']), (status.failed ?? 0) - (previous.failed ?? 0))
  }

  /** Counts the failure policy's actions for failed pods. */
  countPolicyActions(actions: readonly string[]): void {
    for (const action of actions) this.#policyFailures([action]).add()
  }

  countCreations({ job, failed, terminating }: JobState, done: number, missing: number): void {
    const replacesFailed = job.spec?.podReplacementPolicy === 'Failed' && failed > 0
    const reason = replacesFailed
      ? 'recreate_failed'
      : failed > 0 || terminating > 0
        ? 'recreate_terminating_or_failed'
        : 'new'
    this.#add(this.#podCreations([reason, 'succeeded']), done)
    this.#add(this.#podCreations([reason, 'failed']), missing)
  }

  observe(pod: Pod | undefined, old: Pod | undefined): void {
    const [isEnded, wasEnded] = [pod, old].map((state) => state !== undefined && hasEnded(state) && isTracked(state))
    if (isEnded !== wasEnded) this.#tracked([isEnded ? 'add' : 'delete']).add()
  }

  countManagedElsewhere(controller: string): void {
    this.#managedElsewhere([controller]).add()
  }

  /** Skips 0, so that empty series do not appear, and negative numbers, as counters only grow. */
  #add(series: { add(by: number): void }, by: number): void {
    if (by > 0) series.add(by)
  }
}

const modeOf = (job: Job): string => (isIndexed(job) ? 'Indexed' : 'NonIndexed')

/** Counts indexes beyond `completions` too, as that may have been lowered. */
const indexCount = (text: string | undefined): number =>
  text ? countOf(parseIndexes(text, Number.POSITIVE_INFINITY)) : 0
