/** Makes the Job that is due, if there is one and the CronJob's policies let it. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import type { EventType } from '../../../client/events/event-recorder.ts'
import { type CronJob, type Job, jobs } from '../../../client/kinds.ts'
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { isAlreadyExists, isNamespaceTerminating, isNotFound, messageOf } from '../../refusals.ts'
import { type JobReference, referenceTo } from './active-jobs.ts'
import { jobAt, jobName } from './job-of-cron-job.ts'
import { dueTime } from './missed-times.ts'
import { scheduleOf } from './schedule.ts'
import { deleteJob } from './writes.ts'

/** Tells an event, unless the one before with that reason was about the same. */
export type TellOnce = (type: EventType, reason: string, message: string, about?: string) => void

export interface Run {
  readonly active: readonly JobReference[]
  /** That of the Job made now; undefined if none was. */
  readonly lastScheduleTime: string | undefined
  /** Why the Job that is due is not there: to be tried again. */
  readonly error?: unknown
}

/** `now`: milliseconds. `skew` is told how late the Job is, in seconds. */
export async function runDue(
  cron: CronJob,
  active: readonly JobReference[],
  now: number,
  tellOnce: TellOnce,
  skew: HistogramSeries,
  context: ReconcileContext,
): Promise<Run> {
  const none = { active, lastScheduleTime: undefined }
  const time = timeToRun(cron, active, now, tellOnce)
  if (time === undefined) return none
  let running = active
  try {
    if (cron.spec?.concurrencyPolicy === 'Replace') {
      await replaceActive(cron, active, context)
      running = []
    }
    const job = await createJob(cron, time, skew, context)
    if (!job) return { ...none, active: running }
    const reference = referenceTo(job)
    return { active: [...running, reference], lastScheduleTime: `${new Date(time).toISOString().slice(0, 19)}Z` }
  } catch (error) {
    return { active: running, lastScheduleTime: undefined, error }
  }
}

/** The time that a Job has to be made for now. What keeps it from being made is told. */
function timeToRun(
  cron: CronJob,
  active: readonly JobReference[],
  now: number,
  tellOnce: TellOnce,
): number | undefined {
  const { next, problem } = scheduleOf(cron)
  if (problem?.reason === 'UnknownTimeZone') tellOnce('Warning', problem.reason, problem.message)
  if (cron.spec?.suspend) return undefined
  if (problem) {
    tellOnce('Warning', problem.reason, problem.message)
    return undefined
  }
  const due = dueOf(cron, now, next, tellOnce)
  if (due === undefined) return undefined
  const deadline = cron.spec?.startingDeadlineSeconds
  const about = new Date(due).toISOString()
  if (deadline !== undefined && due + Number(deadline) * 1000 < now) {
    tellOnce(
      'Warning',
      'MissSchedule',
      `Missed scheduled time to start a job: ${new Date(due).toUTCString().replace('GMT', '+0000')}`,
    )
    return undefined
  }
  const last = cron.status?.lastScheduleTime
  if ((last && Date.parse(last) === due) || active.some(({ name }) => name === jobName(cron, due))) return undefined
  if (cron.spec?.concurrencyPolicy === 'Forbid' && active.length > 0) {
    tellOnce(
      'Normal',
      'JobAlreadyActive',
      'Not starting job because prior execution is running and concurrency policy is Forbid',
      about,
    )
    return undefined
  }
  return due
}

function dueOf(
  cron: CronJob,
  now: number,
  next: (after: number) => number | undefined,
  tellOnce: TellOnce,
): number | undefined {
  try {
    const { time, isTooMany } = dueTime(cron, now, next)
    const about = cron.status?.lastScheduleTime ?? ''
    if (isTooMany)
      tellOnce(
        'Warning',
        'TooManyMissedTimes',
        'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
        about,
      )
    return time
  } catch (error) {
    tellOnce('Warning', 'InvalidSchedule', `invalid schedule: ${cron.spec?.schedule} : ${messageOf(error)}`)
    return undefined
  }
}

async function replaceActive(cron: CronJob, active: readonly JobReference[], context: ReconcileContext): Promise<void> {
  for (const { namespace = '', name = '' } of active) {
    const job = await context.client.get(jobs, namespace, name).catch((error) => {
      if (isNotFound(error)) return undefined
      context.events.record(cron, 'Warning', 'FailedGet', `Get job: ${messageOf(error)}`)
      throw error
    })
    if (job) await deleteJob(cron, job, context)
  }
}

/** The Job of that time; undefined where somebody else's has its name, or its namespace goes. */
async function createJob(
  cron: CronJob,
  time: number,
  skew: HistogramSeries,
  { client, events }: ReconcileContext,
): Promise<Job | undefined> {
  const wanted = jobAt(cron, time)
  try {
    const job = await client.create(jobs, wanted)
    skew.observe(Math.max(0, Date.parse(job.metadata.creationTimestamp ?? '') - time) / 1000)
    events.record(cron, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`)
    return job
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined
    if (!isAlreadyExists(error)) {
      events.record(cron, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`)
      throw error
    }
  }
  // It was made before, but the status was not written.
  const known = await client.get(jobs, wanted.metadata.namespace ?? '', wanted.metadata.name ?? '')
  return isControlledBy(known, cron) ? known : undefined
}
