/** Creates ResourceClaims from templates of pods, reserves them for bound pods, and releases them for ended ones. */
import { byClaim, claimName, claimNames, usesClaims } from '../../api/dra/pod-claims.ts'
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, pods, resourceClaimTemplates as templates } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { byController } from '../pods/owners/owner.ts'
import { isDone, syncClaim } from './claims.ts'
import { ClaimMetrics } from './metrics.ts'
import { PodClaims } from './pod-claims.ts'
import { reserveClaims } from './reservations.ts'

const concurrency = 10

const podKey = ({ metadata }: Pod): string => `pod/${metadata.namespace}/${metadata.name}`
const claimKey = (namespace: string | undefined, name: string | undefined): string => `claim/${namespace}/${name}`

const byTemplate = ({ metadata, spec }: Pod): Iterable<string> =>
  (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name ? [`${metadata.namespace}/${name}`] : [],
  )

export function resourceClaimController(metrics = new ClaimMetrics()): Controller {
  const podClaims = new PodClaims(metrics)
  return {
    name: 'resourceclaim-controller',
    component: 'resource_claim',
    concurrency,
    watches: [
      watch({
        resource: pods,
        *keys(pod) {
          if (!usesClaims(pod)) return
          yield podKey(pod)
          if (isDone(pod)) yield* keysOfClaims(pod)
        },
        onChange(pod, old, { caches, requeue }) {
          if (pod || !old || !usesClaims(old)) return
          podClaims.forget(old)
          for (const key of keysOfClaims(old)) requeue(key)
          for (const { metadata } of caches.by(claims, byController, old.metadata.uid ?? ''))
            requeue(claimKey(metadata.namespace, metadata.name))
        },
      }),
      watch({
        resource: claims,
        *keys({ metadata: { namespace, name } }, caches) {
          yield claimKey(namespace, name)
          for (const pod of caches.by(pods, byClaim, `${namespace}/${name}`)) yield podKey(pod)
        },
      }),
      watch({
        resource: templates,
        *keys({ metadata }, caches) {
          for (const pod of caches.by(pods, byTemplate, `${metadata.namespace}/${metadata.name}`)) yield podKey(pod)
        },
      }),
    ],
    async run({ caches }) {
      metrics.setClaims(() => caches.all(claims))
    },
    async reconcile(key, context) {
      const [kind, namespace = '', name = ''] = key.split('/')
      if (kind === 'claim') return syncClaim(namespace, name, context)
      const pod = context.caches.get(pods, namespace, name)
      if (pod && !pod.metadata.deletionTimestamp && !isDone(pod)) await syncPod(pod, podClaims, context)
    },
  }
}

async function syncPod(pod: Pod, podClaims: PodClaims, context: ReconcileContext): Promise<void> {
  const { namespace = '', name = '' } = pod.metadata
  const statuses: { name: string; resourceClaimName: string }[] = []
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const claim = await podClaims.ensure(pod, podClaim, context)
    if (claim && claim !== claimName(pod, podClaim)) statuses.push({ name: podClaim.name, resourceClaimName: claim })
  }
  // The status update requeues the pod.
  if (statuses.length > 0) {
    await context.client
      .patch(pods, namespace, name, { status: { resourceClaimStatuses: statuses } }, 'strategic', 'status')
      .catch(ignoreNotFound)
  } else if (pod.spec?.nodeName) await reserveClaims(pod, context)
}

const keysOfClaims = (pod: Pod): string[] => claimNames(pod).map((name) => claimKey(pod.metadata.namespace, name))
