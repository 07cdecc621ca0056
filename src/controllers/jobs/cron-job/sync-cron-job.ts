/** Reconciles a CronJob: creates the Job that is due, deletes surplus Jobs, and writes the status. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type CronJob, cronJobs, type Job, jobs } from '../../../client/kinds.ts'
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { byController } from '../../pods/owners/owner.ts'
import type { Alarms } from '../alarms.ts'
import { finishedCondition } from '../finished.ts'
import { activeJobs, type JobReference, surplusJobs } from './active-jobs.ts'
import { createDueJob, type RecordOnce, type Run } from './create-due-job.ts'
import type { CronJobState } from './cron-job-memory.ts'
import { deleteJob } from './delete-job.ts'
import { nextInMs } from './schedule/missed-times.ts'
import { scheduleOf } from './schedule/schedule.ts'

type CronJobStatus = NonNullable<CronJob['status']>

/** State of the controller shared by all reconciles. */
export interface CronJobRuntime {
  readonly alarms: Alarms
  /** Observes how late Jobs are created, in seconds. */
  readonly skew: HistogramSeries
  /** Returns ms. */
  readonly now: () => number
}

export async function syncCronJob(
  cron: CronJob,
  state: CronJobState,
  runtime: CronJobRuntime,
  context: ReconcileContext,
): Promise<void> {
  const owned = [...context.caches.by(jobs, byController, cron.metadata.uid ?? '')]
  const { active, ended, missing, unexpected, lastSuccessfulTime } = activeJobs(cron, owned)
  recordChanges(cron, ended, state.updateUnexpected(unexpected), context)
  const deleted = await recordDeleted(cron, missing, context)
  const remaining = active.filter((reference) => !deleted.has(reference))
  const run = await runDueJob(cron, remaining, state, runtime, context)
  for (const job of surplusJobs(cron, owned)) await deleteJob(cron, job, context)
  const written = await writeStatus(cron, statusOf(cron, run, lastSuccessfulTime), context)
  if (!written) return
  state.recordWrite(written)
  if (run.error !== undefined) throw run.error
  if (!written.spec?.suspend && !written.metadata.deletionTimestamp) setAlarm(written, runtime, context)
}

/** Requeues a CronJob at the next time of its schedule. */
export function setAlarm(
  cron: CronJob,
  { alarms, now }: CronJobRuntime,
  context: Pick<ReconcileContext, 'requeue'>,
): void {
  const waitMs = nextInMs(cron, now(), scheduleOf(cron).next)
  if (waitMs !== undefined) alarms.set(keyOf(cron), waitMs, context)
}

function recordChanges(
  cron: CronJob,
  ended: readonly Job[],
  unexpected: readonly Job[],
  { events }: ReconcileContext,
): void {
  for (const job of ended) {
    const message = `Saw completed job: ${job.metadata.name}, condition: ${finishedCondition(job)?.type}`
    events.record(cron, 'Normal', 'SawCompletedJob', message)
  }
  for (const { metadata } of unexpected) {
    const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`
    events.record(cron, 'Warning', 'UnexpectedJob', message)
  }
}

/** Returns the missing active Jobs that do not exist any more; the cache may be stale. */
async function recordDeleted(
  cron: CronJob,
  missing: readonly JobReference[],
  context: ReconcileContext,
): Promise<ReadonlySet<JobReference>> {
  const deleted = new Set<JobReference>()
  for (const reference of missing) {
    if (await jobExists(reference, context)) continue
    deleted.add(reference)
    context.events.record(cron, 'Normal', 'MissingJob', `Active job went missing: ${reference.name}`)
  }
  return deleted
}

const jobExists = ({ namespace = '', name = '' }: JobReference, { client }: ReconcileContext): Promise<boolean> =>
  client.get(jobs, namespace, name).then(
    () => true,
    (error) => ignoreNotFound(error) ?? false,
  )

async function runDueJob(
  cron: CronJob,
  active: readonly JobReference[],
  state: CronJobState,
  { now, skew }: CronJobRuntime,
  context: ReconcileContext,
): Promise<Run> {
  if (cron.metadata.deletionTimestamp) return { active, lastScheduleTime: undefined }
  const recordOnce: RecordOnce = (type, reason, message, about = message) => {
    if (state.shouldRecord(reason, about)) context.events.record(cron, type, reason, message)
  }
  return createDueJob(cron, active, now(), recordOnce, skew, context)
}

function statusOf(
  { status }: CronJob,
  { active, lastScheduleTime = status?.lastScheduleTime }: Run,
  lastSuccessfulTime: string | undefined,
): CronJobStatus {
  return {
    ...(active.length > 0 && { active: [...active] }),
    ...(lastScheduleTime && { lastScheduleTime }),
    ...(lastSuccessfulTime && { lastSuccessfulTime }),
  }
}

/** Resolves with the updated CronJob; with undefined if it was deleted. */
async function writeStatus(
  cron: CronJob,
  status: CronJobStatus,
  { client }: ReconcileContext,
): Promise<CronJob | undefined> {
  if (jsonEqual(status, cron.status ?? {})) return cron
  return await client.updateStatus(cronJobs, { ...cron, status }).catch(ignoreNotFound)
}
