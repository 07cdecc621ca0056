/** Creates ResourceClaims from templates of pods, reserves them for bound pods, and releases them for ended ones. */

import {
  byClaim,
  claimFrom,
  claimName,
  claimNames,
  type PodClaim,
  podClaimAnnotation,
  usesClaims,
} from '../../api/dra/pod-claims.ts'
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import {
  resourceClaims as claims,
  type Pod,
  pods,
  type ResourceClaim,
  resourceClaimTemplates as templates,
} from '../../client/kinds.ts'
import { ignoreNotFound, messageOf } from '../api-errors.ts'
import { byController, isControlledBy } from '../pods/owners/owner.ts'
import { isDone, syncClaim } from './claims.ts'
import { ClaimMetrics } from './metrics.ts'

/** Maximum number of pods that share a claim. */
const maxReservations = 256
const concurrency = 10

const podKey = ({ metadata }: Pod): string => `pod/${metadata.namespace}/${metadata.name}`
const claimKey = (namespace: string | undefined, name: string | undefined): string => `claim/${namespace}/${name}`

const byTemplate = ({ metadata, spec }: Pod): Iterable<string> =>
  (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name ? [`${metadata.namespace}/${name}`] : [],
  )

export function resourceClaimController(metrics = new ClaimMetrics()): Controller {
  /** Names of created claims that may not be in the cache yet, by pod and claim. */
  const createdClaims = new Map<string, string>()
  const createdKey = ({ metadata }: Pod, claim: string): string => `${metadata.uid}/${claim}`

  /**
   * Resolves with the name of the pod's claim, creating it if needed; '' if none is needed, undefined if not possible
   * yet.
   */
  async function ensureClaim(
    pod: Pod,
    podClaim: PodClaim,
    { caches, client, events }: ReconcileContext,
  ): Promise<string | undefined> {
    const { namespace = '' } = pod.metadata
    const known = claimName(pod, podClaim)
    const { name, resourceClaimTemplateName: templateName } = podClaim
    if (known === '' || !templateName) return known
    const existing = known === undefined ? undefined : caches.get(claims, namespace, known)
    if (existing && isControlledBy(existing, pod)) return known
    const uid = pod.metadata.uid ?? ''
    for (const { metadata } of caches.by(claims, byController, uid))
      if (metadata.annotations?.[podClaimAnnotation] === name) return metadata.name
    const created = createdClaims.get(createdKey(pod, name))
    if (created !== undefined && created !== known) return created
    const template = caches.get(templates, namespace, templateName)
    try {
      if (!template)
        throw new Error(
          `resource claim template ${JSON.stringify(templateName)}: resourceclaimtemplate.resource.k8s.io ` +
            `${JSON.stringify(templateName)} not found`,
        )
      const { metadata } = await client.create(claims, claimFrom(template, pod, name)).catch((error) => {
        metrics.countCreation('failure', template.spec?.spec)
        throw error
      })
      metrics.countCreation('success', template.spec?.spec)
      createdClaims.set(createdKey(pod, name), metadata.name ?? '')
      return metadata.name
    } catch (error) {
      events.record(pod, 'Warning', 'FailedResourceClaimCreation', `PodResourceClaim ${name}: ${messageOf(error)}`)
      // A new template requeues its pods.
      if (template) throw error
      return undefined
    }
  }

  async function syncPod(pod: Pod, context: ReconcileContext): Promise<void> {
    const { namespace = '', name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp || isDone(pod)) return
    const statuses: { name: string; resourceClaimName: string }[] = []
    for (const podClaim of pod.spec?.resourceClaims ?? []) {
      const claim = await ensureClaim(pod, podClaim, context)
      if (claim && claim !== claimName(pod, podClaim)) statuses.push({ name: podClaim.name, resourceClaimName: claim })
    }
    // The status update requeues the pod.
    if (statuses.length > 0) {
      await context.client
        .patch(pods, namespace, name, { status: { resourceClaimStatuses: statuses } }, 'strategic', 'status')
        .catch(ignoreNotFound)
    } else if (pod.spec?.nodeName) await reserve(pod, context)
  }

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
        onChange(pod, before, { caches, requeue }) {
          if (pod || !before || !usesClaims(before)) return
          for (const { name } of before.spec?.resourceClaims ?? []) createdClaims.delete(createdKey(before, name))
          for (const key of keysOfClaims(before)) requeue(key)
          for (const { metadata } of caches.by(claims, byController, before.metadata.uid ?? ''))
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
      if (pod) await syncPod(pod, context)
    },
  }
}

const keysOfClaims = (pod: Pod): string[] => claimNames(pod).map((name) => claimKey(pod.metadata.namespace, name))

/** Reserves the claims of a pod that was bound without the scheduler. */
async function reserve(pod: Pod, { caches, client }: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const claim = caches.get(claims, namespace, claimName(pod, podClaim) ?? '')
    if (!claim) return
    if (podClaim.resourceClaimTemplateName && !isControlledBy(claim, pod))
      throw new Error(`claim ${claim.metadata.name} was not made for pod ${namespace}/${name}`)
    if (canReserve(claim, uid)) {
      const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: 'pods', name, uid }]
      await client.updateStatus(claims, { ...claim, status: { ...claim.status, reservedFor } }).catch(ignoreNotFound)
    }
  }
}

function canReserve({ status }: ResourceClaim, uid: string): boolean {
  const reserved = status?.reservedFor ?? []
  return (
    status?.allocation !== undefined &&
    reserved.length < maxReservations &&
    !reserved.some((reservation) => reservation.uid === uid)
  )
}
