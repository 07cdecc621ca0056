/** One look at a Job that goes on: decides, changes its pods, and writes what has come of them. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import type { Job } from '../../../client/kinds.ts'
import { isReady } from '../../pods/phase.ts'
import type { Expectations } from '../../pods/writing/expectations.ts'
import type { Alarms } from '../alarms.ts'
import { conditionOf, type JobCondition, trueCondition, withCondition } from '../finished.ts'
import { createPods, removePods } from './carry-out.ts'
import { countPods, type JobRecords, writeStatus } from './count-pods.ts'
import { podChanges } from './decisions/pod-changes.ts'
import { conditionsOf, isSuspended, type JobState } from './decisions/state.ts'
import { completed, deadlineInMs, isComplete, type Moment, momentOf, verdictOf } from './decisions/verdict.ts'
import type { SyncAction } from './metrics.ts'
import { type BackOff, backOffAfter } from './policies/back-off.ts'

/** What the controller keeps between two looks. */
export interface JobRoom extends JobRecords {
  readonly expectations: Expectations
  readonly alarms: Alarms
  /** Milliseconds. */
  readonly now: () => number
}

/** How many pods there are after the changes, and whether all went well. */
interface Outcome {
  readonly active: number
  readonly ready: number
  readonly terminating: number
  readonly error?: unknown
}

/** `doing` is told what it is at. */
export async function runJob(
  state: JobState,
  room: JobRoom,
  context: ReconcileContext,
  doing: (action: SyncAction) => void,
): Promise<void> {
  const { job } = state
  const { memory, alarms } = room
  const now = momentOf(room.now())
  const startTime = job.status?.startTime ?? (isSuspended(job) ? undefined : now.text)
  const backOff = backOffAfter(memory.of(job).backOff, state.ended.succeeded, state.ended.failed)
  const verdict = verdictOf(state, startTime, now)
  if (verdict && state.active.length > 0 && !trueCondition(job, verdict.type)) {
    // Why its pods are removed is written before they are: who comes after must not find another reason.
    await writeStatus(
      job,
      { ...job.status, startTime, conditions: [...withCondition(conditionsOf(job), verdict)] },
      room,
      context,
    )
    return
  }
  const deadline = verdict ? undefined : deadlineInMs(job, startTime, now)
  if (deadline !== undefined) alarms.set(keyOf(job), deadline, context)

  const { error, ...pods } = await changePods(state, verdict, backOff, now, room, context, doing)
  const end = endOf(state, verdict, { error, ...pods }, now)
  const conditions = end || job.metadata.deletionTimestamp ? conditionsOf(job) : withSuspension(job, now)
  const hasChanged = conditions !== conditionsOf(job)
  const isResumed = hasChanged && !isSuspended(job)
  const started = hasChanged ? (isResumed ? now.text : undefined) : (startTime ?? endedAtRest(job, end, now))
  const seen = { ...pods, verdict: end, conditions, startTime: started }
  const named = await countPods(state, seen, now, room, context)
  if (named) memory.of(job).backOff = backOff
  if (named && hasChanged)
    context.events.record(
      job,
      'Normal',
      isResumed ? 'Resumed' : 'Suspended',
      isResumed ? 'Job resumed' : 'Job suspended',
    )
  if (error !== undefined) throw error
}

/**
 * The time of a Job that rests does not run on; but one that ends, unless it has nothing to do, needs to have begun.
 */
const endedAtRest = (job: Job, end: JobCondition | undefined, now: Moment): string | undefined =>
  end && job.spec?.completions !== 0 ? now.text : undefined

/** Removes what still runs when the Job ends; else sees to it that as many pods run as should. */
async function changePods(
  state: JobState,
  verdict: JobCondition | undefined,
  backOff: BackOff,
  now: Moment,
  room: JobRoom,
  context: ReconcileContext,
  doing: (action: SyncAction) => void,
): Promise<Outcome> {
  const { job, active, ready, terminating } = state
  const { remove, create, againMs } = verdict
    ? { remove: active, create: [], againMs: 0 }
    : podChanges(state, backOff, now.ms)
  if (againMs > 0) room.alarms.set(keyOf(job), againMs, context)
  if (job.metadata.deletionTimestamp && !verdict) return { active: active.length, ready, terminating }
  if (!verdict) doing(remove.length > 0 ? 'pods_deleted' : create.length > 0 ? 'pods_created' : 'tracking')
  if (remove.length > 0) {
    const { done, error } = await removePods(job, remove, verdict !== undefined, room.expectations, context)
    return {
      active: active.length - done.length,
      ready: ready - done.filter(isReady).length,
      terminating: terminating + done.length,
      error,
    }
  }
  if (create.length === 0) return { active: active.length, ready, terminating }
  const { done, error } = await createPods(state, create, room.expectations, context)
  room.metrics.created(state, done, error === undefined ? 0 : create.length - done)
  return { active: active.length + done, ready, terminating, error }
}

/** What the Job ends by, if all that has to be removed is removed. */
function endOf(
  state: JobState,
  verdict: JobCondition | undefined,
  { active, error }: Outcome,
  now: Moment,
): JobCondition | undefined {
  if (verdict) return active === 0 && error === undefined ? verdict : undefined
  return isComplete(state, active) ? completed(now) : undefined
}

/** The conditions with what has become of `spec.suspend`; the same list if nothing has. */
function withSuspension(job: Job, now: Moment): readonly JobCondition[] {
  const condition = isSuspended(job)
    ? conditionOf('Suspended', 'JobSuspended', 'Job suspended', now.text)
    : conditionOf('Suspended', 'JobResumed', 'Job resumed', now.text, 'False')
  return withCondition(conditionsOf(job), condition)
}
