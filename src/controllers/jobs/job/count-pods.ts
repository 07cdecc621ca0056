/** Counts a Job's pods in its status, in steps between which the controller may crash, and finishes the Job. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, jobs } from '../../../client/kinds.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { isConflict, isNotFound } from '../../api-errors.ts'
import { attemptEach } from '../../pods/writes/attempt-each.ts'
import type { JobCondition } from '../finished.ts'
import type { JobState } from './decisions/state.ts'
import { counted, finalCondition, finished, type JobStatus, type Observed, tracking } from './decisions/tracking.ts'
import type { Moment } from './decisions/verdict.ts'
import type { JobMemory } from './memory.ts'
import type { JobMetrics } from './metrics.ts'
import { releasePod } from './pod-writes.ts'
import { isTracked } from './pods.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** The controller's memory and metrics. */
export interface JobRecords {
  readonly memory: JobMemory
  readonly metrics: JobMetrics
}

/** Lists ended pods in the status, releases them, counts them. Resolves with the updated Job; undefined if deleted. */
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
  const listed = await writeStatus(job, status, records, context)
  if (!listed) return undefined
  metrics.countPolicyActions(policyActions)
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
  const releasedNow = new Set(done)
  const held = new Set(
    pods.filter((pod) => isTracked(pod) && !releasedNow.has(pod)).map(({ metadata }) => metadata.uid ?? ''),
  )
  const after = counted(status, held)
  const end =
    observed.verdict && !isLimited && error === undefined ? finalCondition(after, observed.verdict, now) : undefined
  const written = await writeStatus(listed, end ? finished(after, end) : after, records, context)
  if (written && end) {
    metrics.countFinished(written, end)
    recordEnd(written, end, context)
  }
  if (error !== undefined) throw error
  return written
}

/** Writes the status if it has changed. Resolves with the current Job; undefined if it was deleted. */
export async function writeStatus(
  job: Job,
  status: JobStatus,
  { memory, metrics }: JobRecords,
  { client }: Pick<Context, 'client'>,
): Promise<Job | undefined> {
  if (jsonEqual(status, job.status)) return job
  try {
    const written = await client.updateStatus(jobs, { ...job, status })
    memory.recordWrite(written)
    metrics.countPods(written, job.status)
    return written
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (isConflict(error)) memory.markOutdated(job)
    throw error
  }
}

function recordEnd(job: Job, { type, reason = '', message = '' }: JobCondition, { events }: Context): void {
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
