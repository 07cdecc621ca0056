/** Runs the pods of Jobs until enough have succeeded or too many have failed, and counts them. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type Job, jobs, type Pod, pods } from '../../../client/kinds.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import { claimable, claimed } from '../../pods/owners/claim.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { isActive } from '../../pods/phase.ts'
import { Expectations, expectationsExpireMs } from '../../pods/writing/expectations.ts'
import { Alarms } from '../alarms.ts'
import { finishedCondition } from '../finished.ts'
import { holdPods } from './carry-out.ts'
import { isManagedElsewhere, type JobState, stateOf } from './decisions/state.ts'
import { JobMemory } from './memory.ts'
import { JobMetrics, type SyncAction } from './metrics.ts'
import { isOrphan, orphanKey, orphanOf, releaseOrphan } from './orphans.ts'
import { isTracked, trackingFinalizer } from './pods.ts'
import { runJob } from './run-job.ts'

export interface JobControllerOptions {
  readonly concurrency: number
  /** Counts nothing that anybody sees unless said. */
  readonly metrics?: JobMetrics
  /** Milliseconds. */
  readonly now?: () => number
}

export function jobController({
  concurrency,
  metrics = new JobMetrics(),
  now = Date.now,
}: JobControllerOptions): Controller {
  const expectations = new Expectations(now)
  const memory = new JobMemory()
  const alarms = new Alarms(now)
  const room = { expectations, memory, metrics, alarms, now }

  return {
    name: 'job-controller',
    concurrency,
    watches: [
      watch({
        resource: jobs,
        changed(job, before, context) {
          const gone = before && job?.metadata.uid !== before.metadata.uid ? before : undefined
          if (gone) forget(gone)
          if (job && !before && isManagedElsewhere(job)) metrics.managedElsewhere(job.spec?.managedBy ?? '')
          for (const ended of [gone, job && finishedCondition(job) ? job : undefined])
            if (ended) releaseAll(ended, context)
        },
      }),
      watch({
        resource: pods,
        *keys(pod, caches) {
          yield* ownerKeys(pod, caches, jobs, selects)
          if (isOrphan(pod, caches)) yield orphanKey(pod)
        },
        changed(pod, before) {
          expectations.observe(pod, before)
          memory.observe(pod, before)
          metrics.observe(pod, before)
        },
      }),
    ],
    async reconcile(key, context) {
      const orphan = orphanOf(key)
      if (orphan) return releaseOrphan(orphan, context)
      const [namespace = '', name = ''] = key.split('/')
      const job = context.caches.get(jobs, namespace, name)
      if (!job || isManagedElsewhere(job)) return
      if (finishedCondition(job)) return forget(job)
      if (memory.isOutdated(job)) return
      // Its pods are about to be seen, and then it is looked at again.
      if (!expectations.satisfied(job.metadata.uid ?? '')) return alarms.set(key, expectationsExpireMs, context)
      const mine = await podsOf(job, memory, context)
      const loose = job.metadata.deletionTimestamp ? [] : mine.filter((pod) => isActive(pod) && !isTracked(pod))
      if (loose.length > 0) return holdPods(loose, context)
      await timed(stateOf(job, mine), context)
    },
  }

  async function timed(state: JobState, context: ReconcileContext): Promise<void> {
    const began = performance.now()
    let action: SyncAction = 'reconciling'
    let isDone = false
    try {
      await runJob(state, room, context, (doing) => {
        action = doing
      })
      isDone = true
    } finally {
      metrics.synced(state.job, action, isDone, (performance.now() - began) / 1000)
    }
  }

  function forget(job: Job): void {
    memory.forget(job)
    expectations.forget(job.metadata.uid ?? '')
    alarms.forget(keyOf(job))
  }
}

const selects = ({ spec }: Job, { metadata }: { metadata: Pod['metadata'] }): boolean =>
  labelSelectorOf(spec?.selector).matches(metadata.labels ?? {})

/**
 * Its pods, and those that it adopts. What is remembered of pods is said of them at once: what a watch tells a moment
 * later it tells of newer ones.
 */
const podsOf = (job: Job, memory: JobMemory, { caches, client }: ReconcileContext): Promise<Pod[]> =>
  claimed(
    Array.from(claimable(job, pods, caches), (pod) => memory.asReleased(pod, job)),
    { owner: job, owners: jobs, resource: pods, matches: (pod) => selects(job, pod), finalizers: [trackingFinalizer] },
    client,
  )

/** Looks at what is left of a Job that has ended or gone. */
function releaseAll(job: Job, { caches, requeue }: Pick<ReconcileContext, 'caches' | 'requeue'>): void {
  for (const pod of caches.by(pods, byController, job.metadata.uid ?? '')) if (isTracked(pod)) requeue(orphanKey(pod))
}
