/** Makes the ReplicaSet of a Deployment's current template. */
import { type Deployment, type ReplicaSet, replicaSets } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { StatusError } from '../../../machinery/status-error.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { isAlreadyExists, isNamespaceTerminating, messageOf } from '../../refusals.ts'
import { reasons } from './conditions.ts'
import { newSetAnnotations, sizeAnnotations } from './revisions.ts'
import type { Rollout } from './rollout.ts'
import { mostOf, newSetSize, replicasOf } from './sizes/sizes.ts'
import { numbersOf, progressDeadline } from './status.ts'
import { hashLabel, sameTemplate, templateHash } from './template-hash.ts'

const longestName = 253

/** The ReplicaSet that a Deployment's template needs, as large as it may be at once. */
export function newReplicaSet(deployment: Deployment, oldSets: readonly ReplicaSet[]): ReplicaSet {
  const { metadata, spec, status } = deployment
  const hash = templateHash(spec?.template ?? {}, status?.collisionCount)
  const labels = { ...spec?.template.metadata?.labels, [hashLabel]: hash }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${(metadata.name ?? '').slice(0, longestName - hash.length - 1)}-${hash}`,
      namespace: metadata.namespace,
      labels,
      annotations: {
        ...newSetAnnotations(deployment, undefined, oldSets),
        ...sizeAnnotations(replicasOf(deployment), mostOf(deployment)),
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
 * Creates the new set of a rollout that has none. When its name is another set's the Deployment's count of collisions
 * makes for another name, and this rejects with the refusal, as it does for all others: it has to be tried again.
 */
export async function createNewSet(rollout: Rollout): Promise<void> {
  const { deployment, oldSets, context } = rollout
  const { client, events } = context
  const set = newReplicaSet(deployment, oldSets)
  let created: ReplicaSet
  try {
    created = await context.written(client.create(replicaSets, set))
  } catch (error) {
    if (isAlreadyExists(error)) return await settleCollision(rollout, set, error)
    if (isNamespaceTerminating(error)) throw error
    const message = `Failed to create new replica set "${set.metadata.name}": ${messageOf(error)}`
    events.record(deployment, 'Warning', reasons.notCreated, message)
    if (progressDeadline(deployment) !== undefined) {
      rollout.tell('Progressing', 'False', reasons.notCreated, message)
      await rollout.write(numbersOf(rollout.deployment, rollout, rollout.now))
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
  rollout.newSet = created
  rollout.noteRevision(created)
  if (progressDeadline(deployment) !== undefined)
    rollout.tell('Progressing', 'True', reasons.created, `Created new replica set "${created.metadata.name}"`)
}

async function settleCollision(
  rollout: Rollout,
  { metadata: { namespace = '', name = '' } }: ReplicaSet,
  refusal: StatusError,
): Promise<void> {
  const { deployment, context } = rollout
  const existing = context.caches.get(replicaSets, namespace, name)
  // Created a moment ago, by this controller most likely: it is about to be seen.
  if (!existing) throw refusal
  if (isControlledBy(existing, deployment) && sameTemplate(existing.spec?.template, deployment.spec?.template)) {
    rollout.newSet = existing
    rollout.noteRevision(existing)
    return
  }
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
  await rollout.write({ ...deployment.status, collisionCount })
  throw refusal
}
