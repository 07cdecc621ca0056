/** Creates the claims of ephemeral volumes (KEP-1698). The pod owns them, so that they are deleted with it. */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { persistentVolumeClaims as claims, type PersistentVolumeClaim, type Pod, pods } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { isAlreadyExists, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { claimsOfPod, ephemeralClaimName } from '../pod-claims.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined
const hasEphemeral = ({ spec }: Pod): boolean => spec?.volumes?.some(({ ephemeral }) => ephemeral) ?? false

export function ephemeralVolumes(concurrency: number, registry = new MetricsRegistry()): Controller {
  const help = 'Number of PersistenVolumeClaims creation requests'
  const attempts = registry.counter('ephemeral_volume_controller_create_total', help)([])
  const failures = registry.counter('ephemeral_volume_controller_create_failures_total', help)([])

  async function create(claim: PersistentVolumeClaim, client: RestClient): Promise<void> {
    attempts.add()
    try {
      await client.create(claims, claim)
    } catch (error) {
      failures.add()
      throw error
    }
  }

  return {
    name: 'ephemeral-volume-controller',
    component: 'ephemeral_volume',
    concurrency,
    watches: [
      watch({
        resource: pods,
        keys: (pod) =>
          hasEphemeral(pod) && !isTerminating(pod) ? [`${pod.metadata.namespace}/${pod.metadata.name}`] : [],
      }),
      watch({
        resource: claims,
        *keys({ metadata: { namespace, name } }, caches) {
          for (const pod of caches.by(pods, claimsOfPod, `${namespace}/${name}`))
            if (hasEphemeral(pod)) yield `${namespace}/${pod.metadata.name}`
        },
      }),
    ],
    async reconcile(key, { client, caches, events }) {
      const [namespace = '', name = ''] = key.split('/')
      const pod = caches.get(pods, namespace, name)
      if (!pod || isTerminating(pod)) return
      for (const volume of pod.spec?.volumes ?? []) {
        if (!volume.ephemeral) continue
        try {
          const claim = ephemeralClaim(pod, volume)
          const existing = caches.get(claims, namespace, claim.metadata.name ?? '')
          if (!existing) await create(claim, client)
          else if (!isControlledBy(existing, pod))
            throw new Error(
              `PVC ${namespace}/${existing.metadata.name} was not created ` +
                `for pod ${namespace}/${name} (pod is not owner)`,
            )
        } catch (error) {
          // The pod will be deleted with its namespace.
          if (isNamespaceTerminating(error)) return
          // It exists but is not in the cache yet: a retry will check its owner.
          if (isAlreadyExists(error)) throw error
          events.record(pod, 'Warning', 'FailedBinding', `ephemeral volume ${volume.name}: ${messageOf(error)}`)
          throw new Error(`ephemeral volume ${volume.name}: ${messageOf(error)}`, { cause: error })
        }
      }
    },
  }
}

/** Builds the claim of a pod's ephemeral volume. */
export function ephemeralClaim(pod: Pod, { name, ephemeral }: Volume): PersistentVolumeClaim {
  const { metadata, spec } = ephemeral?.volumeClaimTemplate ?? {}
  const { labels, annotations } = metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace: pod.metadata.namespace,
      name: ephemeralClaimName(pod.metadata.name ?? '', name),
      ownerReferences: [controllerReference(pod)],
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
    },
    ...(spec && { spec }),
  }
}
