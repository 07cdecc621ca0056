/** Creates the ReplicaSet of a Deployment's current template. */
import { type Deployment, type ReplicaSet, replicaSets } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { StatusError } from '../../../machinery/status-error.ts'
import { isAlreadyExists, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { reasons } from './conditions.ts'
import { newSetAnnotations, sizeAnnotations } from './revisions.ts'
import type { Rollout } from './rollout.ts'
import { maxReplicasOf, newSetSize, replicasOf } from './sizes/sizes.ts'
import { baseStatus, progressDeadline } from './status.ts'
import { hashLabel, isSameTemplate, templateHash } from './template-hash.ts'

const maxNameLength = 253

/** Builds the ReplicaSet of a Deployment's template, with the largest size allowed initially. */
export function newReplicaSet(deployment: Deployment, oldSets: readonly ReplicaSet[]): ReplicaSet {
  const { metadata, spec, status } = deployment
  const hash = templateHash(spec?.template ?? {}, status?.collisionCount)
  const labels = { ...spec?.template.metadata?.labels, [hashLabel]: hash }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${(metadata.name ?? '').slice(0, maxNameLength - hash.length - 1)}-${hash}`,
      namespace: metadata.namespace,
      labels,
      annotations: {
        ...newSetAnnotations(deployment, undefined, oldSets),
        ...sizeAnnotations(replicasOf(deployment), maxReplicasOf(deployment)),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: newSetSize(deployment, 0, oldSets),
      ...(spec?.minReadySeconds && { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec?.selector, matchLabels: { ...spec?.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec?.template, metadata: { ...spec?.template.metadata, labels } },
    },
  }
}

/**
 * Creates the new set of a rollout. On a name collision, increments the Deployment's collision count, which changes the
 * name. Rejects with the server's error, so that the key is retried.
 */
export async function createNewSet(rollout: Rollout): Promise<void> {
  const { deployment, oldSets, context } = rollout
  const { client, events } = context
  const set = newReplicaSet(deployment, oldSets)
  let created: ReplicaSet
  try {
    created = await context.recordWrite(client.create(replicaSets, set))
  } catch (error) {
    if (isAlreadyExists(error)) return await resolveCollision(rollout, set, error)
    if (isNamespaceTerminating(error)) throw error
    const message = `Failed to create new replica set "${set.metadata.name}": ${messageOf(error)}`
    events.record(deployment, 'Warning', reasons.notCreated, message)
    if (progressDeadline(deployment) !== undefined) {
      rollout.setCondition('Progressing', 'False', reasons.notCreated, message)
      await rollout.write(baseStatus(rollout.deployment, rollout, rollout.now))
    }
    throw error
  }
  const size = replicasOf(created)
  if (size > 0)
    events.record(
      deployment,
      'Normal',
      'ScalingReplicaSet',
      `Scaled up replica set ${created.metadata.name} from 0 to ${size}`,
    )
  rollout.adoptNewSet(created)
  if (progressDeadline(deployment) !== undefined)
    rollout.setCondition('Progressing', 'True', reasons.created, `Created new replica set "${created.metadata.name}"`)
}

async function resolveCollision(
  rollout: Rollout,
  { metadata: { namespace = '', name = '' } }: ReplicaSet,
  conflict: StatusError,
): Promise<void> {
  const { deployment, context } = rollout
  const existing = context.caches.get(replicaSets, namespace, name)
  // Probably created by this controller and not yet in the cache.
  if (!existing) throw conflict
  if (isControlledBy(existing, deployment) && isSameTemplate(existing.spec?.template, deployment.spec?.template)) {
    rollout.adoptNewSet(existing)
    return
  }
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
  await rollout.write({ ...deployment.status, collisionCount })
  throw conflict
}
