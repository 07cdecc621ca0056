/** Reconciles an unfinished Job: decides, creates or deletes pods, and writes the status. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import type { Job } from '../../../client/kinds.ts'
import { isReady } from '../../pods/phase.ts'
import type { Expectations } from '../../pods/writes/expectations.ts'
import type { Alarms } from '../alarms.ts'
import { conditionOf, type JobCondition, trueCondition, withCondition } from '../finished.ts'
import { countPods, type JobRecords, writeStatus } from './count-pods.ts'
import { podChanges } from './decisions/pod-changes.ts'
import { conditionsOf, isSuspended, type JobState } from './decisions/state.ts'
import { completed, deadlineInMs, isComplete, type Moment, momentOf, verdictOf } from './decisions/verdict.ts'
import type { SyncAction } from './metrics.ts'
import { createPods, removePods } from './pod-writes.ts'
import { type BackOff, backOffAfter } from './policies/back-off.ts'

/** State of the controller shared by all reconciles. */
export interface JobRuntime extends JobRecords {
  readonly expectations: Expectations
  readonly alarms: Alarms
  /** Returns ms. */
  readonly now: () => number
}

/** Numbers of pods after the changes, and the first error. */
interface Outcome {
  readonly active: number
  readonly ready: number
  readonly terminating: number
  readonly error?: unknown
}

/** `reportAction` receives the current action, for metrics. */
export async function syncJob(
  state: JobState,
  runtime: JobRuntime,
  context: ReconcileContext,
  reportAction: (action: SyncAction) => void,
): Promise<void> {
  const { job } = state
  const { memory, alarms } = runtime
  const now = momentOf(runtime.now())
  const startTime = job.status?.startTime ?? (isSuspended(job) ? undefined : now.text)
  const backOff = backOffAfter(memory.of(job).backOff, state.ended.succeeded, state.ended.failed)
  const verdict = verdictOf(state, startTime, now)
  if (verdict && state.active.length > 0 && !trueCondition(job, verdict.type)) {
    // The reason is written before pods are deleted, so that a later reconcile cannot find another one.
    await writeStatus(
      job,
      { ...job.status, startTime, conditions: [...withCondition(conditionsOf(job), verdict)] },
      runtime,
      context,
    )
    return
  }
  const deadline = verdict ? undefined : deadlineInMs(job, startTime, now)
  if (deadline !== undefined) alarms.set(keyOf(job), deadline, context)

  const { error, ...pods } = await changePods(state, verdict, backOff, now, runtime, context, reportAction)
  const end = endOf(state, verdict, { error, ...pods }, now)
  const conditions = end || job.metadata.deletionTimestamp ? conditionsOf(job) : withSuspension(job, now)
  const hasChanged = conditions !== conditionsOf(job)
  const isResumed = hasChanged && !isSuspended(job)
  const started = hasChanged ? (isResumed ? now.text : undefined) : (startTime ?? startTimeOfSuspended(job, end, now))
  const observed = { ...pods, verdict: end, conditions, startTime: started }
  const counted = await countPods(state, observed, now, runtime, context)
  if (counted) memory.of(job).backOff = backOff
  if (counted && hasChanged)
    context.events.record(
      job,
      'Normal',
      isResumed ? 'Resumed' : 'Suspended',
      isResumed ? 'Job resumed' : 'Job suspended',
    )
  if (error !== undefined) throw error
}

/** A suspended Job has no startTime; but one that finishes needs it, unless it has no completions. */
const startTimeOfSuspended = (job: Job, end: JobCondition | undefined, now: Moment): string | undefined =>
  end && job.spec?.completions !== 0 ? now.text : undefined

/** Deletes the active pods of a Job with a verdict; else scales the pods to the desired number. */
async function changePods(
  state: JobState,
  verdict: JobCondition | undefined,
  backOff: BackOff,
  now: Moment,
  runtime: JobRuntime,
  context: ReconcileContext,
  reportAction: (action: SyncAction) => void,
): Promise<Outcome> {
  const { job, active, ready, terminating } = state
  const { remove, create, requeueAfterMs } = verdict
    ? { remove: active, create: [], requeueAfterMs: 0 }
    : podChanges(state, backOff, now.ms)
  if (requeueAfterMs > 0) runtime.alarms.set(keyOf(job), requeueAfterMs, context)
  if (job.metadata.deletionTimestamp && !verdict) return { active: active.length, ready, terminating }
  if (!verdict) reportAction(remove.length > 0 ? 'pods_deleted' : create.length > 0 ? 'pods_created' : 'tracking')
  if (remove.length > 0) {
    const { done, error } = await removePods(job, remove, verdict !== undefined, runtime.expectations, context)
    return {
      active: active.length - done.length,
      ready: ready - done.filter(isReady).length,
      terminating: terminating + done.length,
      error,
    }
  }
  if (create.length === 0) return { active: active.length, ready, terminating }
  const { done, error } = await createPods(state, create, runtime.expectations, context)
  runtime.metrics.countCreations(state, done, error === undefined ? 0 : create.length - done)
  return { active: active.length + done, ready, terminating, error }
}

/** Returns the condition that finishes the Job once all active pods are deleted. */
function endOf(
  state: JobState,
  verdict: JobCondition | undefined,
  { active, error }: Outcome,
  now: Moment,
): JobCondition | undefined {
  if (verdict) return active === 0 && error === undefined ? verdict : undefined
  return isComplete(state, active) ? completed(now) : undefined
}

/** Returns the conditions updated for `spec.suspend`; the same list if nothing changes. */
function withSuspension(job: Job, now: Moment): readonly JobCondition[] {
  const condition = isSuspended(job)
    ? conditionOf('Suspended', 'JobSuspended', 'Job suspended', now.text)
    : conditionOf('Suspended', 'JobResumed', 'Job resumed', now.text, 'False')
  return withCondition(conditionsOf(job), condition)
}
