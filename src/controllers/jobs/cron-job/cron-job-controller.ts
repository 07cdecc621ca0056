/** Creates Jobs on the schedule of a CronJob and deletes the oldest finished ones. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type CronJob, cronJobs, jobs } from '../../../client/kinds.ts'
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { Alarms } from '../alarms.ts'
import { creationSkew } from '../time-metrics.ts'
import { CronJobMemory } from './cron-job-memory.ts'
import { type CronJobRuntime, setAlarm, syncCronJob } from './sync-cron-job.ts'

/** `skew` observes how late Jobs are created, in seconds. `now` returns ms. */
export function cronJobController(
  concurrency: number,
  skew: HistogramSeries = creationSkew(),
  now: () => number = Date.now,
): Controller {
  const memory = new CronJobMemory()
  const runtime: CronJobRuntime = { alarms: new Alarms(now), skew, now }
  return {
    name: 'cronjob-controller',
    concurrency,
    watches: [
      watch({
        resource: cronJobs,
        keys: () => [],
        onChange(cron, old, context) {
          if (old && cron?.metadata.uid !== old.metadata.uid) memory.forget(old)
          if (cron) scheduleReconcile(cron, old, runtime, context)
          else if (old) runtime.alarms.forget(keyOf(old))
        },
      }),
      watch({ resource: jobs, keys: (job, caches) => ownerKeys(job, caches, cronJobs, () => false) }),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const cron = context.caches.get(cronJobs, namespace, name)
      if (!cron) return
      const state = memory.of(cron)
      if (!state.isOutdated(cron)) await syncCronJob(cron, state, runtime, context)
    },
  }
}

function scheduleReconcile(
  cron: CronJob,
  old: CronJob | undefined,
  runtime: CronJobRuntime,
  context: Pick<ReconcileContext, 'requeue'>,
): void {
  // A new schedule applies from now on: its times in the past are not made up for.
  if (old && hasOtherSchedule(cron, old)) setAlarm(cron, runtime, context)
  else context.requeue(keyOf(cron))
}

const hasOtherSchedule = (a: CronJob, b: CronJob): boolean =>
  a.spec?.schedule !== b.spec?.schedule || a.spec?.timeZone !== b.spec?.timeZone
