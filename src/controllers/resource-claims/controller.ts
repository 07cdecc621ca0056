/**
 * Makes the ResourceClaims that pods ask for by template, reserves those of pods with a node, and frees them when their
 * pods have ended.
 */

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
import { isDone, settleClaim } from './claims.ts'
import { ClaimMetrics } from './metrics.ts'

/** As many pods may share a claim. */
const mostReservations = 256
const concurrency = 10

const podKey = ({ metadata }: Pod): string => `pod/${metadata.namespace}/${metadata.name}`
const claimKey = (namespace: string | undefined, name: string | undefined): string => `claim/${namespace}/${name}`

const byTemplate = ({ metadata, spec }: Pod): Iterable<string> =>
  (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name ? [`${metadata.namespace}/${name}`] : [],
  )

export function resourceClaimController(metrics = new ClaimMetrics()): Controller {
  /** Claims that were made and may not be seen yet: their names, by pod and its claim. */
  const made = new Map<string, string>()
  const madeKey = ({ metadata }: Pod, claim: string): string => `${metadata.uid}/${claim}`

  /** The claim that a pod has, or has now; none where none is needed. Undefined where it cannot be made yet. */
  async function ensured(
    pod: Pod,
    podClaim: PodClaim,
    { caches, client, events }: ReconcileContext,
  ): Promise<string | undefined> {
    const { namespace = '' } = pod.metadata
    const known = claimName(pod, podClaim)
    const { name, resourceClaimTemplateName: templateName } = podClaim
    if (known === '' || !templateName) return known
    const present = known === undefined ? undefined : caches.get(claims, namespace, known)
    if (present && isControlledBy(present, pod)) return known
    const uid = pod.metadata.uid ?? ''
    for (const { metadata } of caches.by(claims, byController, uid))
      if (metadata.annotations?.[podClaimAnnotation] === name) return metadata.name
    const unseen = made.get(madeKey(pod, name))
    if (unseen !== undefined && unseen !== known) return unseen
    const template = caches.get(templates, namespace, templateName)
    try {
      if (!template)
        throw new Error(
          `resource claim template ${JSON.stringify(templateName)}: resourceclaimtemplate.resource.k8s.io ` +
            `${JSON.stringify(templateName)} not found`,
        )
      const { metadata } = await client.create(claims, claimFrom(template, pod, name)).catch((error) => {
        metrics.created('failure', template.spec?.spec)
        throw error
      })
      metrics.created('success', template.spec?.spec)
      made.set(madeKey(pod, name), metadata.name ?? '')
      return metadata.name
    } catch (error) {
      events.record(pod, 'Warning', 'FailedResourceClaimCreation', `PodResourceClaim ${name}: ${messageOf(error)}`)
      // A template that comes brings its pods to be looked at.
      if (template) throw error
      return undefined
    }
  }

  async function syncPod(pod: Pod, context: ReconcileContext): Promise<void> {
    const { namespace = '', name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp || isDone(pod)) return
    const statuses: { name: string; resourceClaimName: string }[] = []
    for (const podClaim of pod.spec?.resourceClaims ?? []) {
      const claim = await ensured(pod, podClaim, context)
      if (claim && claim !== claimName(pod, podClaim)) statuses.push({ name: podClaim.name, resourceClaimName: claim })
    }
    // Once it is written, the pod is looked at again.
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
          for (const { name } of before.spec?.resourceClaims ?? []) made.delete(madeKey(before, name))
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
      metrics.follow(() => caches.all(claims))
    },
    async reconcile(key, context) {
      const [kind, namespace = '', name = ''] = key.split('/')
      if (kind === 'claim') return settleClaim(namespace, name, context)
      const pod = context.caches.get(pods, namespace, name)
      if (pod) await syncPod(pod, context)
    },
  }
}

const keysOfClaims = (pod: Pod): string[] => claimNames(pod).map((name) => claimKey(pod.metadata.namespace, name))

/** Pods that were bound past the scheduler have their claims reserved too. */
async function reserve(pod: Pod, { caches, client }: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const claim = caches.get(claims, namespace, claimName(pod, podClaim) ?? '')
    if (!claim) return
    if (podClaim.resourceClaimTemplateName && !isControlledBy(claim, pod))
      throw new Error(`claim ${claim.metadata.name} was not made for pod ${namespace}/${name}`)
    if (mayReserve(claim, uid)) {
      const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: 'pods', name, uid }]
      await client.updateStatus(claims, { ...claim, status: { ...claim.status, reservedFor } }).catch(ignoreNotFound)
    }
  }
}

function mayReserve({ status }: ResourceClaim, uid: string): boolean {
  const reserved = status?.reservedFor ?? []
  return (
    status?.allocation !== undefined &&
    reserved.length < mostReservations &&
    !reserved.some((reservation) => reservation.uid === uid)
  )
}
