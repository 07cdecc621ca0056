/** Delays of the creation (`cronjob_controller_*`) and deletion (`ttl_after_finished_controller_*`) of Jobs. */
import { exponentialBuckets } from '../../lib/metrics/buckets.ts'
import { type HistogramSeries, MetricsRegistry } from '../../lib/metrics/registry.ts'

/** Seconds between a scheduled time of a CronJob and the creation of its Job. */
export const creationSkew = (registry = new MetricsRegistry()): HistogramSeries =>
  registry.histogram(
    'cronjob_controller_cronjob_job_creation_skew_duration_seconds',
    'Time between when a cronjob is scheduled to be run, and when the corresponding job is created',
    exponentialBuckets(1, 2, 10),
  )([])

/** Seconds between the expiry of a Job and its deletion. */
export const deletionDelay = (registry = new MetricsRegistry()): HistogramSeries =>
  registry.histogram(
    'ttl_after_finished_controller_job_deletion_duration_seconds',
    'The time it took to delete the job since it became eligible for deletion',
    exponentialBuckets(0.1, 2, 14),
  )([])
