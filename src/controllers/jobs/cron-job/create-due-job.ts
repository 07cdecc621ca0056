/** Creates the Job that is due, if the CronJob's policies allow it. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import type { EventType } from '../../../client/events/event-recorder.ts'
import { type CronJob, type Job, jobs } from '../../../client/kinds.ts'
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'
import { isAlreadyExists, isNamespaceTerminating, isNotFound, messageOf } from '../../api-errors.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { type JobReference, referenceTo } from './active-jobs.ts'
import { deleteJob } from './delete-job.ts'
import { jobAt, jobName } from './job-of-cron-job.ts'
import { dueTime } from './schedule/missed-times.ts'
import { scheduleOf } from './schedule/schedule.ts'

/** Records an event unless the previous one of that reason had the same `about`. */
export type RecordOnce = (type: EventType, reason: string, message: string, about?: string) => void

export interface Run {
  readonly active: readonly JobReference[]
  /** The scheduled time of the Job created now; undefined if none was created. */
  readonly lastScheduleTime: string | undefined
  /** The error that prevented the creation of the due Job: the key must be retried. */
  readonly error?: unknown
}

/** `now` is in ms. `skew` observes how late the Job is created, in seconds. */
export async function createDueJob(
  cron: CronJob,
  active: readonly JobReference[],
  now: number,
  recordOnce: RecordOnce,
  skew: HistogramSeries,
  context: ReconcileContext,
): Promise<Run> {
  const none = { active, lastScheduleTime: undefined }
  const time = timeToRun(cron, active, now, recordOnce)
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

/** Returns the time for which a Job must be created now. Records an event if a policy prevents it. */
function timeToRun(
  cron: CronJob,
  active: readonly JobReference[],
  now: number,
  recordOnce: RecordOnce,
): number | undefined {
  const { next, problem } = scheduleOf(cron)
  if (problem?.reason === 'UnknownTimeZone') recordOnce('Warning', problem.reason, problem.message)
  if (cron.spec?.suspend) return undefined
  if (problem) {
    recordOnce('Warning', problem.reason, problem.message)
    return undefined
  }
  const due = lastDueTime(cron, now, next, recordOnce)
  if (due === undefined) return undefined
  const deadline = cron.spec?.startingDeadlineSeconds
  const about = new Date(due).toISOString()
  if (deadline !== undefined && due + Number(deadline) * 1000 < now) {
    recordOnce(
      'Warning',
      'MissSchedule',
      `Missed scheduled time to start a job: ${new Date(due).toUTCString().replace('GMT', '+0000')}`,
    )
    return undefined
  }
  const last = cron.status?.lastScheduleTime
  if ((last && Date.parse(last) === due) || active.some(({ name }) => name === jobName(cron, due))) return undefined
  if (cron.spec?.concurrencyPolicy === 'Forbid' && active.length > 0) {
    recordOnce(
      'Normal',
      'JobAlreadyActive',
      'Not starting job because prior execution is running and concurrency policy is Forbid',
      about,
    )
    return undefined
  }
  return due
}

function lastDueTime(
  cron: CronJob,
  now: number,
  next: (after: number) => number | undefined,
  recordOnce: RecordOnce,
): number | undefined {
  try {
    const { time, isTooMany } = dueTime(cron, now, next)
    const about = cron.status?.lastScheduleTime ?? ''
    if (isTooMany)
      recordOnce(
        'Warning',
        'TooManyMissedTimes',
        'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
        about,
      )
    return time
  } catch (error) {
    recordOnce('Warning', 'InvalidSchedule', `invalid schedule: ${cron.spec?.schedule} : ${messageOf(error)}`)
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

/** Creates the Job of that time; undefined if another Job has its name or the namespace is terminating. */
async function createJob(
  cron: CronJob,
  time: number,
  skew: HistogramSeries,
  { client, events }: ReconcileContext,
): Promise<Job | undefined> {
  const desired = jobAt(cron, time)
  try {
    const job = await client.create(jobs, desired)
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
  // An earlier reconcile created it but did not write the status.
  const existing = await client.get(jobs, desired.metadata.namespace ?? '', desired.metadata.name ?? '')
  return isControlledBy(existing, cron) ? existing : undefined
}
