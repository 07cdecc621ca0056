/** Keeps as many pods alive as a ReplicaSet or a ReplicationController asks for. */
import { type Caches, type Controller, watch } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { claimCandidates, claimObjects } from '../../pods/owners/claim.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { isActive, isTerminating, nextAvailableMs } from '../../pods/phase.ts'
import { Expectations, expectationsExpireMs } from '../../pods/writes/expectations.ts'
import { unlessGone } from '../../refusals.ts'
import type { PodSet, PodSetKind } from './kind.ts'
import { manage } from './manage.ts'
import { type DeletionAges, deletionAges } from './metrics.ts'
import { isTold, statusOf } from './status.ts'

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
        onChange(set, before) {
          const uid = before?.metadata.uid
          if (uid !== undefined && uid !== set?.metadata.uid) expectations.forget(uid)
        },
      }),
      watch({
        resource: pods,
        onChange: (pod, before) => expectations.observe(pod, before),
        keys: (pod, caches) =>
          ownerKeys(pod, caches, resource, (set, { metadata }) => selector(set).matches(metadata.labels)),
        delayMs: (key, caches) => {
          const [namespace = '', name = ''] = key.split('/')
          return restMsOf(caches.get(resource, namespace, name))
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, client, requeue } = context
      const [namespace = '', name = ''] = key.split('/')
      const set = caches.get(resource, namespace, name)
      if (!set) return
      const { uid = '', deletionTimestamp } = set.metadata
      const isUpToDate = expectations.satisfied(uid)
      const { matches } = selector(set)
      const claim = {
        owner: set,
        owners: resource,
        resource: pods,
        matches: (pod: Pod) => matches(pod.metadata.labels),
      }
      const active = await claimObjects([...claimCandidates(set, pods, caches)].filter(isActive), claim, client)
      let failure: unknown
      if (isUpToDate && !deletionTimestamp) {
        failure = await manage(set, active, {
          ...context,
          expectations,
          ages,
          related: () => relatedPods(set, kind, caches),
          ignoresCost: kind.ignoresDeletionCost,
        })
        if (!expectations.satisfied(uid)) requeue(key, expectationsExpireMs + 1)
      }
      const now = Date.now()
      const staying = stayingOf(active, expectations.pendingDeletions(uid), caches)
      const terminating = kind.countsTerminating
        ? [...caches.by(pods, byController, uid)].filter(isTerminating).length
        : undefined
      const status = statusOf(set, { active: staying, terminating, failure, now })
      if (!isTold(set, status)) await client.updateStatus(resource, { ...set, status }).catch(unlessGone)
      const soonest = nextAvailableMs(staying, set.spec?.minReadySeconds ?? 0, now)
      if (soonest !== undefined) requeue(key, soonest)
      if (failure !== undefined) throw failure
    },
  }
}

/**
 * Those that stay, as far as is known by now. Deployments must not count on pods of which only this controller knows
 * yet that they go, nor on those whose end has been seen meanwhile.
 */
const stayingOf = (active: readonly Pod[], going: ReadonlySet<string>, caches: Caches): readonly Pod[] =>
  active.filter(({ metadata: { namespace = '', name = '', uid = '' } }) => {
    const known = caches.get(pods, namespace, name)
    return known !== undefined && known.metadata.uid === uid && isActive(known) && !going.has(uid)
  })

/**
 * A look takes some 2 µs a pod: those of a large set take no more than a tenth of the thread, however fast its pods
 * change.
 */
const restMsPerPod = 0.02
const largeSet = 200
const mostRestMs = 500

function restMsOf(set: PodSet | undefined): number {
  const size = Math.max(set?.spec?.replicas ?? 1, set?.status?.replicas ?? 0)
  return size < largeSet ? 0 : Math.min(size * restMsPerPod, mostRestMs)
}

/** The pods of all sets that have the same controller, such as those of one Deployment. */
function* relatedPods<T extends PodSet>(set: T, { resource }: PodSetKind<T>, caches: Caches): Generator<Pod> {
  const controller = controllerOf(set)
  if (!controller) return
  for (const { metadata } of caches.by(resource, byController, controller.uid))
    for (const pod of caches.by(pods, byController, metadata.uid ?? '')) if (isActive(pod)) yield pod
}
