/**
 * Counts a Job's pods in its status, in steps that survive the end of the controller between any two of them; and ends
 * the Job.
 */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, jobs } from '../../../client/kinds.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { attemptEach } from '../../pods/writing/attempt-each.ts'
import { isConflict, isNotFound } from '../../refusals.ts'
import type { JobCondition } from '../finished.ts'
import { releasePod } from './carry-out.ts'
import type { JobState } from './decisions/state.ts'
import { counted, finalCondition, finished, type JobStatus, type Observed, tracking } from './decisions/tracking.ts'
import type { Moment } from './decisions/verdict.ts'
import type { JobMemory } from './memory.ts'
import type { JobMetrics } from './metrics.ts'
import { isTracked } from './pods.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** What the controller remembers and counts. */
export interface JobRecords {
  readonly memory: JobMemory
  readonly metrics: JobMetrics
}

/** Names what has ended, releases it, counts it. Resolves with the Job as it was written; undefined if it has gone. */
export async function countPods(
  state: JobState,
  observed: Observed,
  now: Moment,
  records: JobRecords,
  context: Context,
): Promise<Job | undefined> {
  const { job, pods } = state
  const { memory, metrics } = records
  const { status, release, policyActions, isLimited } = tracking(state, observed)
  const named = await writeStatus(job, status, records, context)
  if (!named) return undefined
  metrics.decidedByPolicy(policyActions)
  const { released } = memory.of(job)
  const { done, error } = await attemptEach(release, async (pod) => {
    const { uid = '' } = pod.metadata
    released.add(uid)
    await releasePod(pod, context).catch((error) => {
      released.delete(uid)
      throw error
    })
    return pod
  })
  const gone = new Set(done)
  const held = new Set(pods.filter((pod) => isTracked(pod) && !gone.has(pod)).map(({ metadata }) => metadata.uid ?? ''))
  const after = counted(status, held)
  const end =
    observed.verdict && !isLimited && error === undefined ? finalCondition(after, observed.verdict, now) : undefined
  const written = await writeStatus(named, end ? finished(after, end) : after, records, context)
  if (written && end) {
    metrics.finished(written, end)
    tellEnd(written, end, context)
  }
  if (error !== undefined) throw error
  return written
}

/** Writes the status if it has changed. Resolves with the Job as it is then; undefined if it has gone. */
export async function writeStatus(
  job: Job,
  status: JobStatus,
  { memory, metrics }: JobRecords,
  { client }: Pick<Context, 'client'>,
): Promise<Job | undefined> {
  if (jsonEqual(status, job.status)) return job
  try {
    const written = await client.updateStatus(jobs, { ...job, status })
    memory.written(written)
    metrics.counted(written, job.status)
    return written
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (isConflict(error)) memory.outdated(job)
    throw error
  }
}

function tellEnd(job: Job, { type, reason = '', message = '' }: JobCondition, { events }: Context): void {
  const isTooMany = (job.status?.succeeded ?? 0) > (job.spec?.completions ?? Number.POSITIVE_INFINITY)
  if (type !== 'Complete') events.record(job, 'Warning', reason, message)
  else {
    if (isTooMany)
      events.record(
        job,
        'Warning',
        'TooManySucceededPods',
        'Too many succeeded pods running after completion count reached',
      )
    events.record(job, 'Normal', 'Completed', 'Job completed')
  }
}
