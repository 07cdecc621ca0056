/** Rolls out Deployments through ReplicaSets: one for each template, scaled step by step. */
import { type Caches, type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type Deployment, deployments, type Pod, pods, replicaSets } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import { claimCandidates, claimObjects } from '../../pods/owners/claim.ts'
import { byController } from '../../pods/owners/owner.ts'
import { ownerKeys } from '../../pods/owners/owner-keys.ts'
import { hasEnded } from '../../pods/phase.ts'
import { expectationsExpireMs } from '../../pods/writes/expectations.ts'
import { OwnWrites } from '../../pods/writes/own-writes.ts'
import { desiredReplicas } from './revisions.ts'
import { Rollout, type RolloutContext } from './rollout.ts'
import { isActiveSet, isRolling, replicasOf } from './sizes/sizes.ts'
import { allOf, baseStatus, rolloutStatus } from './status.ts'
import { applySize, cleanUp, recreate, rollingUpdate } from './strategies.ts'

export function deploymentController(concurrency: number): Controller {
  const writes = new OwnWrites()
  return {
    name: 'deployment-controller',
    concurrency,
    watches: [
      watch({
        resource: deployments,
        onChange(deployment, old) {
          const uid = old?.metadata.uid
          if (uid !== undefined && uid !== deployment?.metadata.uid) writes.forget(uid)
        },
      }),
      watch({
        resource: replicaSets,
        keys: (set, caches) => ownerKeys(set, caches, deployments, selects),
        onChange(set, old) {
          const owner = (set && controllerOf(set)) ?? (old && controllerOf(old))
          if (owner) writes.observe(owner.uid, set, old)
        },
      }),
      // The Recreate strategy waits for the old pods to end; other changes appear in ReplicaSets.
      watch({
        resource: pods,
        keys: () => [],
        onChange(pod, old, { caches, requeue }) {
          if (!old || (pod && (!hasEnded(pod) || hasEnded(old)))) return
          const deployment = deploymentOf(old, caches)
          if (deployment && !isRolling(deployment)) requeue(keyOf(deployment))
        },
      }),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const deployment = context.caches.get(deployments, namespace, name)
      if (!deployment) return
      const { uid = '' } = deployment.metadata
      await refreshWrites(deployment, writes, context)
      // Sizes are summed over all sets. The outstanding watch event requeues the key.
      if (!writes.areObserved(uid, context.caches.by(replicaSets, byController, uid)))
        return context.requeue(key, expectationsExpireMs + 1, { isRealTime: true })
      await syncDeployment(deployment, { ...context, recordWrite: (write) => writes.record(uid, write) })
    },
  }
}

/** Lists the Deployment's sets after a write whose outcome is unknown. */
async function refreshWrites(
  { metadata: { namespace, uid = '' } }: Deployment,
  writes: OwnWrites,
  { client }: ReconcileContext,
): Promise<void> {
  if (!writes.needsRefresh(uid)) return
  const { items } = await client.list(replicaSets, { namespace })
  writes.recordRefresh(
    uid,
    items.filter((set) => controllerOf(set)?.uid === uid),
  )
}

async function syncDeployment(deployment: Deployment, context: RolloutContext): Promise<void> {
  const { client, caches } = context
  const matches = (set: KubeObject): boolean => selects(deployment, set)
  const sets = await claimObjects(
    claimCandidates(deployment, replicaSets, caches),
    { owner: deployment, owners: deployments, resource: replicaSets, matches },
    client,
  )
  const rollout = new Rollout(deployment, sets, context, context.clock.now())
  const currentStatus = () => baseStatus(rollout.deployment, rollout, rollout.now)
  if (deployment.metadata.deletionTimestamp) return await rollout.write(currentStatus())
  rollout.updatePause()
  await rollout.syncRevision()
  const isPaused = deployment.spec?.paused ?? false
  if (isPaused || isScaled(rollout)) {
    await applySize(rollout)
    if (isPaused) await cleanUp(rollout)
    return await rollout.write(currentStatus())
  }
  if (isRolling(deployment)) await rollingUpdate(rollout)
  else await recreate(rollout)
  await rollout.write(rolloutStatus(rollout.deployment, rollout, rollout.now))
}

const selects = ({ spec }: Deployment, { metadata }: KubeObject): boolean =>
  labelSelectorOf(spec?.selector).matches(metadata.labels)

/** Returns true if the Deployment was scaled since its ReplicaSets were: scaling precedes the rollout. */
function isScaled(rollout: Rollout): boolean {
  const { deployment } = rollout
  return allOf(rollout)
    .filter(isActiveSet)
    .some((set) => (desiredReplicas(set) ?? replicasOf(deployment)) !== replicasOf(deployment))
}

/** The Deployment of a pod, through its ReplicaSet. */
function deploymentOf(pod: Pod, caches: Caches): Deployment | undefined {
  const namespace = pod.metadata.namespace ?? ''
  const set = controllerOf(pod)
  const owned = set && caches.get(replicaSets, namespace, set.name)
  const owner = owned && owned.metadata.uid === set.uid ? controllerOf(owned) : undefined
  const deployment = owner && caches.get(deployments, namespace, owner.name)
  return deployment && deployment.metadata.uid === owner.uid ? deployment : undefined
}
