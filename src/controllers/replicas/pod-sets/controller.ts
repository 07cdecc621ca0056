/** Maintains the number of pods of ReplicaSets and ReplicationControllers. */
import { type Caches, type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { claimCandidates, claimObjects } from '../../pods/owners/claim.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { isActive, isTerminating, nextAvailableMs } from '../../pods/phase.ts'
import { Expectations, expectationsExpireMs } from '../../pods/writes/expectations.ts'
import type { PodSet, PodSetKind } from './kind.ts'
import { manage } from './manage.ts'
import { type DeletionAges, deletionAges } from './metrics.ts'
import { isStatusCurrent, statusOf } from './status.ts'

export function podSetController<T extends PodSet>(
  kind: PodSetKind<T>,
  concurrency: number,
  ages: DeletionAges = deletionAges(),
): Controller {
  const { resource, selector } = kind
  const expectations = new Expectations()
  return {
    name: kind.controller,
    component: kind.component,
    concurrency,
    watches: [
      watch({
        resource,
        onChange(set, old) {
          const uid = old?.metadata.uid
          if (uid !== undefined && uid !== set?.metadata.uid) expectations.forget(uid)
        },
      }),
      watch({
        resource: pods,
        onChange: (pod, old) => expectations.observe(pod, old),
        keys: (pod, caches) =>
          ownerKeys(pod, caches, resource, (set, { metadata }) => selector(set).matches(metadata.labels)),
        delayMs: (key, caches) => {
          const [namespace = '', name = ''] = key.split('/')
          return batchDelayMs(caches.get(resource, namespace, name))
        },
      }),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const set = context.caches.get(resource, namespace, name)
      if (set) await syncPodSet(set, kind, expectations, ages, context)
    },
  }
}

async function syncPodSet<T extends PodSet>(
  set: T,
  kind: PodSetKind<T>,
  expectations: Expectations,
  ages: DeletionAges,
  context: ReconcileContext,
): Promise<void> {
  const { caches, requeue } = context
  const { uid = '', deletionTimestamp } = set.metadata
  const isSatisfied = expectations.satisfied(uid)
  const active = await claimActivePods(set, kind, context)
  let failure: unknown
  if (isSatisfied && !deletionTimestamp) {
    failure = await manage(set, active, {
      ...context,
      expectations,
      ages,
      related: () => relatedPods(set, kind, caches),
      ignoresCost: kind.ignoresDeletionCost,
    })
    if (!expectations.satisfied(uid)) requeue(keyOf(set), expectationsExpireMs + 1, { isRealTime: true })
  }
  const now = context.clock.now()
  const remaining = remainingPods(active, expectations.pendingDeletions(uid), caches)
  await updateStatus(set, kind, { active: remaining, failure, now }, context)
  const nextMs = nextAvailableMs(remaining, set.spec?.minReadySeconds ?? 0, now)
  if (nextMs !== undefined) requeue(keyOf(set), nextMs)
  if (failure !== undefined) throw failure
}

/** Resolves with the set's active pods, including those that it adopts. */
function claimActivePods<T extends PodSet>(
  set: T,
  { resource, selector }: PodSetKind<T>,
  { caches, client }: ReconcileContext,
): Promise<Pod[]> {
  const { matches } = selector(set)
  return claimObjects(
    [...claimCandidates(set, pods, caches)].filter(isActive),
    { owner: set, owners: resource, resource: pods, matches: (pod) => matches(pod.metadata.labels) },
    client,
  )
}

async function updateStatus<T extends PodSet>(
  set: T,
  { resource, countsTerminating }: PodSetKind<T>,
  observed: { readonly active: readonly Pod[]; readonly failure: unknown; readonly now: number },
  { caches, client }: ReconcileContext,
): Promise<void> {
  const terminating = countsTerminating
    ? [...caches.by(pods, byController, set.metadata.uid ?? '')].filter(isTerminating).length
    : undefined
  const status = statusOf(set, { ...observed, terminating })
  if (!isStatusCurrent(set, status)) await client.updateStatus(resource, { ...set, status }).catch(ignoreNotFound)
}

/**
 * Excludes pods whose deletion is pending or was observed meanwhile: Deployments must not count on pods that only this
 * controller knows to be deleted.
 */
const remainingPods = (active: readonly Pod[], deleting: ReadonlySet<string>, caches: Caches): readonly Pod[] =>
  active.filter(({ metadata: { namespace = '', name = '', uid = '' } }) => {
    const cached = caches.get(pods, namespace, name)
    return cached !== undefined && cached.metadata.uid === uid && isActive(cached) && !deleting.has(uid)
  })

/**
 * A reconcile takes about 2 µs per pod. This delay limits the reconciles of a large set to a tenth of the thread,
 * however fast its pods change.
 */
const delayMsPerPod = 0.02
const minDelayedSize = 200
const maxDelayMs = 500

function batchDelayMs(set: PodSet | undefined): number {
  const size = Math.max(set?.spec?.replicas ?? 1, set?.status?.replicas ?? 0)
  return size < minDelayedSize ? 0 : Math.min(size * delayMsPerPod, maxDelayMs)
}

/** The active pods of all sets with the same controller, such as those of one Deployment. */
function* relatedPods<T extends PodSet>(set: T, { resource }: PodSetKind<T>, caches: Caches): Generator<Pod> {
  const controller = controllerOf(set)
  if (!controller) return
  for (const { metadata } of caches.by(resource, byController, controller.uid))
    for (const pod of caches.by(pods, byController, metadata.uid ?? '')) if (isActive(pod)) yield pod
}
