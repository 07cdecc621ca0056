/** Makes Jobs when the schedule of a CronJob says so, and removes the oldest of those that have ended. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import type { EventType } from '../../../client/events/event-recorder.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type CronJob, cronJobs, jobs } from '../../../client/kinds.ts'
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { unlessGone } from '../../refusals.ts'
import { Alarms } from '../alarms.ts'
import { finishedCondition } from '../finished.ts'
import { creationSkew } from '../time-metrics.ts'
import { activeJobs, type JobReference, outlivedJobs } from './active-jobs.ts'
import { nextInMs } from './missed-times.ts'
import { runDue, type TellOnce } from './run-due.ts'
import { scheduleOf } from './schedule.ts'
import { deleteJob } from './writes.ts'

/** What the controller keeps of a CronJob between two looks. */
interface Remembered {
  /** The resourceVersion of the last status written: an older one may be in the cache yet. */
  written: string
  /** What was told last, by reason: it is not told again with every look. */
  readonly told: Map<string, string>
  /** Uids of Jobs that were told to be unexpected. */
  unexpected: ReadonlySet<string | undefined>
}

/** `skew` is told how late Jobs are made, in seconds. `now`: milliseconds. */
export function cronJobController(
  concurrency: number,
  skew: HistogramSeries = creationSkew(),
  now: () => number = Date.now,
): Controller {
  const alarms = new Alarms(now)
  const memory = new Map<string, Remembered>()
  const remembered = ({ metadata: { uid = '' } }: CronJob): Remembered => {
    let known = memory.get(uid)
    if (!known) memory.set(uid, (known = { written: '', told: new Map(), unexpected: new Set() }))
    return known
  }

  return {
    name: 'cronjob-controller',
    concurrency,
    watches: [
      watch({
        resource: cronJobs,
        keys: () => [],
        changed(cron, before, context) {
          if (before && cron?.metadata.uid !== before.metadata.uid) memory.delete(before.metadata.uid ?? '')
          if (!cron) return alarms.forget(keyOf(before as CronJob))
          if (before && hasOtherSchedule(cron, before)) {
            // A new schedule holds from now on: what it would have meant before is not made up for.
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
      const known = remembered(cron)
      if (known.written && BigInt(cron.metadata.resourceVersion ?? 0) < BigInt(known.written)) return
      const tellOnce = (type: EventType, reason: string, message: string, about = message): void => {
        if (known.told.get(reason) === about) return
        known.told.set(reason, about)
        context.events.record(cron, type, reason, message)
      }
      await look(cron, tellOnce, known, context)
    },
  }

  async function look(cron: CronJob, tellOnce: TellOnce, known: Remembered, context: ReconcileContext): Promise<void> {
    const mine = [...context.caches.by(jobs, byController, cron.metadata.uid ?? '')]
    const { ended, missing, unexpected, ...found } = activeJobs(cron, mine)
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
    const gone = new Set<JobReference>()
    for (const reference of missing) {
      // The cache may be behind.
      if (await isThere(reference, context)) continue
      gone.add(reference)
      context.events.record(cron, 'Normal', 'MissingJob', `Active job went missing: ${reference.name}`)
    }
    const active = found.active.filter((reference) => !gone.has(reference))

    const run = cron.metadata.deletionTimestamp
      ? { active, lastScheduleTime: undefined }
      : await runDue(cron, active, now(), tellOnce, skew, context)
    for (const job of outlivedJobs(cron, mine)) await deleteJob(cron, job, context)
    const status = statusOf(cron, run.active, run.lastScheduleTime, found.lastSuccessfulTime)
    const written = jsonEqual(status, cron.status ?? {})
      ? cron
      : await context.client.updateStatus(cronJobs, { ...cron, status }).catch(unlessGone)
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

const isThere = ({ namespace = '', name = '' }: JobReference, { client }: ReconcileContext): Promise<boolean> =>
  client.get(jobs, namespace, name).then(
    () => true,
    (error) => unlessGone(error) ?? false,
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
