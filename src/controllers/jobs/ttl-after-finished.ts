/** Deletes finished Jobs after their `spec.ttlSecondsAfterFinished` (KEP-592). */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { type Job, jobs } from '../../client/kinds.ts'
import type { HistogramSeries } from '../../lib/metrics/registry.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { Alarms } from './alarms.ts'
import { finishedCondition } from './finished.ts'
import { deletionDelay } from './time-metrics.ts'

/** `delay` observes how late Jobs are deleted, in seconds. `now` returns ms. */
export function ttlAfterFinished(
  concurrency: number,
  delay: HistogramSeries = deletionDelay(),
  now: () => number = Date.now,
): Controller {
  const alarms = new Alarms(now)
  return {
    name: 'ttl-after-finished-controller',
    concurrency,
    watches: [watch({ resource: jobs })],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const job = context.caches.get(jobs, namespace, name)
      const wait = job && expiresInMs(job, now())
      if (wait === undefined) return alarms.forget(key)
      if (wait > 0) return alarms.set(key, wait, context)
      // The cache may be stale and the TTL may have been extended.
      const fresh = await context.client.get(jobs, namespace, name).catch(ignoreNotFound)
      const freshWait = fresh && expiresInMs(fresh, now())
      if (!fresh || freshWait === undefined || freshWait > 0) return
      await context.client
        .delete(jobs, namespace, name, { uid: fresh.metadata.uid, propagationPolicy: 'Foreground' })
        .catch(ignoreNotFound)
      delay.observe(-freshWait / 1000)
    },
  }
}

/** Time in ms until a Job expires, negative if it is overdue; undefined if it does not expire. */
export function expiresInMs(job: Job, now: number): number | undefined {
  const seconds = job.spec?.ttlSecondsAfterFinished
  const end = finishedCondition(job)?.lastTransitionTime
  if (seconds === undefined || end === undefined || job.metadata.deletionTimestamp) return undefined
  return Date.parse(end) + seconds * 1000 - now
}
