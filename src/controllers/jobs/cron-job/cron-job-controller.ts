/** Creates Jobs on the schedule of a CronJob and deletes the oldest finished ones. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import type { EventType } from '../../../client/events/event-recorder.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type CronJob, cronJobs, jobs } from '../../../client/kinds.ts'
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { Alarms } from '../alarms.ts'
import { finishedCondition } from '../finished.ts'
import { creationSkew } from '../time-metrics.ts'
import { activeJobs, type JobReference, surplusJobs } from './active-jobs.ts'
import { createDueJob, type RecordOnce } from './create-due-job.ts'
import { deleteJob } from './delete-job.ts'
import { nextInMs } from './missed-times.ts'
import { scheduleOf } from './schedule.ts'

/** State of a CronJob in memory between reconciles. */
interface CronJobMemory {
  /** The resourceVersion of the last status written; the cache may still have an older one. */
  written: string
  /** The last event by reason, so that it is not recorded at every reconcile. */
  readonly recordedEvents: Map<string, string>
  /** Uids of Jobs with an UnexpectedJob event. */
  unexpected: ReadonlySet<string | undefined>
}

/** `skew` observes how late Jobs are created, in seconds. `now` returns ms. */
export function cronJobController(
  concurrency: number,
  skew: HistogramSeries = creationSkew(),
  now: () => number = Date.now,
): Controller {
  const alarms = new Alarms(now)
  const memory = new Map<string, CronJobMemory>()
  const memoryOf = ({ metadata: { uid = '' } }: CronJob): CronJobMemory => {
    let known = memory.get(uid)
    if (!known) memory.set(uid, (known = { written: '', recordedEvents: new Map(), unexpected: new Set() }))
    return known
  }

  return {
    name: 'cronjob-controller',
    concurrency,
    watches: [
      watch({
        resource: cronJobs,
        keys: () => [],
        onChange(cron, before, context) {
          if (before && cron?.metadata.uid !== before.metadata.uid) memory.delete(before.metadata.uid ?? '')
          if (!cron) return alarms.forget(keyOf(before as CronJob))
          if (before && hasOtherSchedule(cron, before)) {
            // A new schedule applies from now on: its times in the past are not made up for.
            const wait = nextInMs(cron, now(), scheduleOf(cron).next)
            if (wait !== undefined) alarms.set(keyOf(cron), wait, context)
          } else context.requeue(keyOf(cron))
        },
      }),
      watch({ resource: jobs, keys: (job, caches) => ownerKeys(job, caches, cronJobs, () => false) }),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const cron = context.caches.get(cronJobs, namespace, name)
      if (!cron) return
      const known = memoryOf(cron)
      if (known.written && BigInt(cron.metadata.resourceVersion ?? 0) < BigInt(known.written)) return
      const recordOnce = (type: EventType, reason: string, message: string, about = message): void => {
        if (known.recordedEvents.get(reason) === about) return
        known.recordedEvents.set(reason, about)
        context.events.record(cron, type, reason, message)
      }
      await syncCronJob(cron, recordOnce, known, context)
    },
  }

  async function syncCronJob(
    cron: CronJob,
    recordOnce: RecordOnce,
    known: CronJobMemory,
    context: ReconcileContext,
  ): Promise<void> {
    const owned = [...context.caches.by(jobs, byController, cron.metadata.uid ?? '')]
    const { ended, missing, unexpected, ...found } = activeJobs(cron, owned)
    for (const job of ended)
      context.events.record(
        cron,
        'Normal',
        'SawCompletedJob',
        `Saw completed job: ${job.metadata.name}, condition: ${finishedCondition(job)?.type}`,
      )
    for (const { metadata } of unexpected)
      if (!known.unexpected.has(metadata.uid))
        context.events.record(
          cron,
          'Warning',
          'UnexpectedJob',
          `Saw a job that the controller did not create or forgot: ${metadata.name}`,
        )
    known.unexpected = new Set(unexpected.map(({ metadata }) => metadata.uid))
    const deleted = new Set<JobReference>()
    for (const reference of missing) {
      // The cache may be stale.
      if (await jobExists(reference, context)) continue
      deleted.add(reference)
      context.events.record(cron, 'Normal', 'MissingJob', `Active job went missing: ${reference.name}`)
    }
    const active = found.active.filter((reference) => !deleted.has(reference))

    const run = cron.metadata.deletionTimestamp
      ? { active, lastScheduleTime: undefined }
      : await createDueJob(cron, active, now(), recordOnce, skew, context)
    for (const job of surplusJobs(cron, owned)) await deleteJob(cron, job, context)
    const status = statusOf(cron, run.active, run.lastScheduleTime, found.lastSuccessfulTime)
    const written = jsonEqual(status, cron.status ?? {})
      ? cron
      : await context.client.updateStatus(cronJobs, { ...cron, status }).catch(ignoreNotFound)
    if (!written) return
    known.written = written.metadata.resourceVersion ?? ''
    if ('error' in run && run.error !== undefined) throw run.error
    if (written.spec?.suspend || written.metadata.deletionTimestamp) return
    const wait = waitOf(written)
    if (wait !== undefined) alarms.set(keyOf(cron), wait, context)
  }

  function waitOf(cron: CronJob): number | undefined {
    return nextInMs(cron, now(), scheduleOf(cron).next)
  }
}

const hasOtherSchedule = (a: CronJob, b: CronJob): boolean =>
  a.spec?.schedule !== b.spec?.schedule || a.spec?.timeZone !== b.spec?.timeZone

const jobExists = ({ namespace = '', name = '' }: JobReference, { client }: ReconcileContext): Promise<boolean> =>
  client.get(jobs, namespace, name).then(
    () => true,
    (error) => ignoreNotFound(error) ?? false,
  )

function statusOf(
  { status }: CronJob,
  active: readonly JobReference[],
  lastScheduleTime = status?.lastScheduleTime,
  lastSuccessfulTime?: string,
): NonNullable<CronJob['status']> {
  return {
    ...(active.length > 0 && { active: [...active] }),
    ...(lastScheduleTime && { lastScheduleTime }),
    ...(lastSuccessfulTime && { lastSuccessfulTime }),
  }
}
