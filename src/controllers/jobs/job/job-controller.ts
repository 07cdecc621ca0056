/** Runs the pods of Jobs until enough have succeeded or too many have failed, and counts them. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type Job, jobs, type Pod, pods } from '../../../client/kinds.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import { claimCandidates, claimObjects } from '../../pods/owners/claim.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { isActive } from '../../pods/phase.ts'
import { Expectations, expectationsExpireMs } from '../../pods/writes/expectations.ts'
import { Alarms } from '../alarms.ts'
import { finishedCondition } from '../finished.ts'
import { isManagedExternally, type JobState, stateOf } from './decisions/state.ts'
import { JobMemory } from './memory.ts'
import { JobMetrics, type SyncAction } from './metrics.ts'
import { isOrphan, orphanKey, orphanOf, releaseOrphan } from './orphans.ts'
import { restoreFinalizers } from './pod-writes.ts'
import { isTracked, trackingFinalizer } from './pods.ts'
import { type JobRuntime, syncJob } from './sync-job.ts'

export interface JobControllerOptions {
  readonly concurrency: number
  /** Default: metrics that are not exported. */
  readonly metrics?: JobMetrics
  /** Returns ms. */
  readonly now?: () => number
}

export function jobController({
  concurrency,
  metrics = new JobMetrics(),
  now = Date.now,
}: JobControllerOptions): Controller {
  const runtime: JobRuntime = {
    expectations: new Expectations(),
    memory: new JobMemory(),
    alarms: new Alarms(now),
    metrics,
    now,
  }
  return {
    name: 'job-controller',
    concurrency,
    watches: [
      watch({
        resource: jobs,
        onChange: (job, old, context) => jobChanged(job, old, runtime, context),
      }),
      watch({
        resource: pods,
        *keys(pod, caches) {
          yield* ownerKeys(pod, caches, jobs, selects)
          if (isOrphan(pod, caches)) yield orphanKey(pod)
        },
        onChange(pod, old) {
          runtime.expectations.observe(pod, old)
          runtime.memory.observe(pod, old)
          metrics.observe(pod, old)
        },
      }),
    ],
    async reconcile(key, context) {
      const orphan = orphanOf(key)
      if (orphan) return releaseOrphan(orphan, context)
      const [namespace = '', name = ''] = key.split('/')
      const job = context.caches.get(jobs, namespace, name)
      if (!job || isManagedExternally(job)) return
      if (finishedCondition(job)) return forget(job, runtime)
      await reconcileUnfinished(job, runtime, context)
    },
  }
}

/** Releases the pods of deleted and finished Jobs. */
function jobChanged(
  job: Job | undefined,
  old: Job | undefined,
  runtime: JobRuntime,
  context: Pick<ReconcileContext, 'caches' | 'requeue'>,
): void {
  if (old && job?.metadata.uid !== old.metadata.uid) {
    forget(old, runtime)
    releaseAll(old, context)
  }
  if (job && !old && isManagedExternally(job)) runtime.metrics.countManagedElsewhere(job.spec?.managedBy ?? '')
  if (job && finishedCondition(job)) releaseAll(job, context)
}

async function reconcileUnfinished(job: Job, runtime: JobRuntime, context: ReconcileContext): Promise<void> {
  const { memory, expectations } = runtime
  if (memory.isOutdated(job)) return
  // The watch on pods requeues the Job when the expected pods are observed.
  if (!expectations.satisfied(job.metadata.uid ?? ''))
    return context.requeue(keyOf(job), expectationsExpireMs + 1, { isRealTime: true })
  const owned = await podsOf(job, memory, context)
  const untracked = job.metadata.deletionTimestamp ? [] : owned.filter((pod) => isActive(pod) && !isTracked(pod))
  if (untracked.length > 0) return restoreFinalizers(untracked, context)
  await syncTimed(stateOf(job, owned), runtime, context)
}

async function syncTimed(state: JobState, runtime: JobRuntime, context: ReconcileContext): Promise<void> {
  const startedAt = performance.now()
  let action: SyncAction = 'reconciling'
  let isDone = false
  try {
    await syncJob(state, runtime, context, (next) => {
      action = next
    })
    isDone = true
  } finally {
    runtime.metrics.observeSync(state.job, action, isDone, (performance.now() - startedAt) / 1000)
  }
}

/** Drops the state of a Job that has finished or was deleted. */
function forget(job: Job, { memory, expectations, alarms }: JobRuntime): void {
  memory.forget(job)
  expectations.forget(job.metadata.uid ?? '')
  alarms.forget(keyOf(job))
}

const selects = ({ spec }: Job, { metadata }: { metadata: Pod['metadata'] }): boolean =>
  labelSelectorOf(spec?.selector).matches(metadata.labels ?? {})

/**
 * Returns the Job's pods, including those that it adopts. Released finalizers are applied to the cached pods
 * immediately, because watch events that arrive later are about newer versions.
 */
const podsOf = (job: Job, memory: JobMemory, { caches, client }: ReconcileContext): Promise<Pod[]> =>
  claimObjects(
    Array.from(claimCandidates(job, pods, caches), (pod) => memory.withoutReleasedFinalizer(pod, job)),
    { owner: job, owners: jobs, resource: pods, matches: (pod) => selects(job, pod), finalizers: [trackingFinalizer] },
    client,
  )

/** Requeues the unreleased pods of a Job that has finished or was deleted. */
function releaseAll(job: Job, { caches, requeue }: Pick<ReconcileContext, 'caches' | 'requeue'>): void {
  for (const pod of caches.by(pods, byController, job.metadata.uid ?? '')) if (isTracked(pod)) requeue(orphanKey(pod))
}
