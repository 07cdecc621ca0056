/**
 * Attaches volumes to the nodes whose pods use them and detaches unused ones, by creating and deleting
 * VolumeAttachments, which CSI drivers carry out.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Controller, type ReconcileContext, reads, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import {
  persistentVolumeClaims as claims,
  csiDrivers,
  nodes,
  type PersistentVolumeClaim,
  type Pod,
  pods,
  type VolumeAttachment,
  volumeAttachments,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { hasEnded } from '../../pods/phase.ts'
import { claimKey } from '../binder/indexes.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { AttachmentEvents } from './attachment-events.ts'
import { desiredVolumes, type VolumeSources } from './desired-volumes.ts'
import { type AttachmentPlan, isHealthy, planAttachments, volumeName } from './plan.ts'

/** The annotation on nodes whose kubelet leaves attaching to this controller. */
const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'

export interface AttachmentOptions {
  /** Time until an unused volume is detached from an unresponsive node, in ms. */
  readonly maxWaitForUnmountMs: number
  /** Period of retrying failed attachments and repeating their events, in ms. */
  readonly syncPeriodMs: number
  /** True if volumes are detached from an unresponsive node only after it is out of service. */
  readonly neverForce: boolean
  /** Default: metrics that are not exported. */
  readonly registry?: MetricsRegistry
  /** Returns ms. */
  readonly now: () => number
}

const byNode = ({ spec }: Pod): readonly string[] =>
  spec?.nodeName && claimsOfAny(spec.volumes) ? [spec.nodeName] : []
const claimsOfAny = (of: NonNullable<Pod['spec']>['volumes']): boolean =>
  of?.some((volume) => volume.persistentVolumeClaim || volume.ephemeral) ?? false
const attachmentsByNode = ({ spec }: VolumeAttachment): readonly string[] => (spec?.nodeName ? [spec.nodeName] : [])
const attachmentsByVolume = (attachment: VolumeAttachment): readonly string[] => [volumeName(attachment)]

export function attachDetach({
  maxWaitForUnmountMs,
  syncPeriodMs,
  neverForce,
  registry = new MetricsRegistry(),
  now,
}: AttachmentOptions): Controller {
  const forced = registry.counter(
    'attachdetach_controller_forced_detaches',
    'Number of times the A/D Controller performed a forced detach',
    ['reason'],
  )
  /** Nodes that wait for a volume attached elsewhere, by volume. */
  const waiting = new Map<string, Set<string>>()
  /** Times since which attachments are unused but still mounted, by name, in ms. */
  const unusedSince = new Map<string, number>()
  /** Created attachments that are not in the cache yet, by name. */
  const uncached = new Map<string, VolumeAttachment>()
  const attachmentEvents = new AttachmentEvents(syncPeriodMs, now)

  async function reconcile(name: string, context: ReconcileContext): Promise<void> {
    const { caches, requeue } = context
    const node = caches.get(nodes, '', name)
    const attachments = [
      ...caches.by(volumeAttachments, attachmentsByNode, name),
      ...[...uncached.values()].filter(({ spec }) => spec?.nodeName === name),
    ]
    if (node && node.metadata.annotations?.[managedAnnotation] !== 'true') return
    if (!node && attachments.length === 0) return
    const sources = sourcesOf(context)
    const nodePods = [...caches.by(pods, byNode, name)]
    const plan = planAttachments({
      name,
      node,
      desired: desiredVolumes(nodePods, sources),
      attachments,
      elsewhere: (volume) =>
        [
          ...caches.by(volumeAttachments, attachmentsByVolume, volume),
          ...[...uncached.values()].filter((attachment) => volumeName(attachment) === volume),
        ].filter(({ spec }) => spec?.nodeName !== name),
      usersElsewhere: (volume) =>
        usersOf(volume, context).filter(({ spec }) => spec?.nodeName && spec.nodeName !== name),
      volume: sources.volume,
      hasTimedOut: (attachment) => !neverForce && now() - (unusedSince.get(attachment) ?? now()) >= maxWaitForUnmountMs,
    })
    // The node's status is updated before volumes are detached: its kubelet uses the volumes listed there.
    await reportAttached(name, plan, context)
    for (const { metadata } of plan.detach) {
      await context.client
        .delete(volumeAttachments, '', metadata.name ?? '', { uid: metadata.uid })
        .catch(ignoreNotFound)
      unusedSince.delete(metadata.name ?? '')
    }
    for (const reason of plan.forced) forced([reason]).add()
    await attach(name, plan, context)
    attachmentEvents.record(
      name,
      plan,
      attachments,
      (volume) => usersOf(volume, context).filter((pod) => nodePods.includes(pod)),
      context,
    )
    for (const attachment of plan.held) {
      if (!unusedSince.has(attachment)) unusedSince.set(attachment, now())
      if (!isHealthy(node))
        requeue(name, Math.max(0, (unusedSince.get(attachment) ?? now()) + maxWaitForUnmountMs - now()) + 1)
    }
    const held = new Set(plan.held)
    for (const { metadata } of attachments) if (!held.has(metadata.name ?? '')) unusedSince.delete(metadata.name ?? '')
    updateWaiting(name, new Set(plan.blocked.map(({ desired }) => desired.volume.metadata.name ?? '')))
  }

  function updateWaiting(node: string, blocked: ReadonlySet<string>): void {
    for (const volume of blocked) waiting.set(volume, (waiting.get(volume) ?? new Set()).add(node))
    for (const [volume, waiters] of waiting) {
      if (blocked.has(volume) || !waiters.delete(node)) continue
      attachmentEvents.unblocked(node, volume)
      if (waiters.size === 0) waiting.delete(volume)
    }
  }

  async function attach(
    nodeName: string,
    { attach: missing }: AttachmentPlan,
    { client }: ReconcileContext,
  ): Promise<void> {
    for (const { name, desired } of missing) {
      const attachment: VolumeAttachment = {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name },
        spec: { attacher: desired.driver, nodeName, source: { persistentVolumeName: desired.volume.metadata.name } },
      }
      try {
        // Recorded before the request, so that no other node gets the volume meanwhile.
        uncached.set(name, attachment)
        attachmentEvents.requested(name)
        await client.create(volumeAttachments, attachment)
      } catch (error) {
        uncached.delete(name)
        throw error
      }
    }
  }

  async function reportAttached(
    name: string,
    { attached }: AttachmentPlan,
    { caches, client }: ReconcileContext,
  ): Promise<void> {
    const node = caches.get(nodes, '', name)
    if (!node || isDeepStrictEqual(node.status?.volumesAttached ?? [], attached)) return
    const { resourceVersion } = node.metadata
    const patch = { metadata: { resourceVersion }, status: { volumesAttached: attached.length > 0 ? attached : null } }
    await client.patch(nodes, '', name, patch, 'merge', 'status').catch(ignoreNotFound)
  }

  return {
    name: 'persistentvolume-attach-detach-controller',
    component: 'attachdetach-controller',
    watches: [
      watch({ resource: nodes }),
      watch({ resource: pods, keys: byNode }),
      watch({
        resource: volumeAttachments,
        onChange(attachment, before) {
          const name = (attachment ?? before)?.metadata.name ?? ''
          uncached.delete(name)
          if (!attachment) attachmentEvents.forget(name)
        },
        *keys(attachment) {
          yield* attachmentsByNode(attachment)
          const volume = volumeName(attachment)
          yield* waiting.get(volume) ?? []
        },
      }),
      watch({ resource: claims, keys: nodesOfClaim }),
      reads(volumes),
      reads(csiDrivers),
    ],
    reconcile,
  }

  function* nodesOfClaim(claim: PersistentVolumeClaim, caches: ReconcileContext['caches']): Generator<string> {
    for (const pod of caches.by(pods, claimsOfPod, keyOf(claim))) yield* byNode(pod)
  }
}

function sourcesOf({ caches }: ReconcileContext): VolumeSources {
  return {
    claim: (namespace, name) => caches.get(claims, namespace, name),
    volume: (name) => caches.get(volumes, '', name),
    attaches: (driver) => caches.get(csiDrivers, '', driver)?.spec?.attachRequired !== false,
  }
}

/** The bound pods that use a volume. */
function usersOf(volume: string, { caches }: ReconcileContext): Pod[] {
  const found = caches.get(volumes, '', volume)
  const key = found && claimKey(found)
  return key === undefined
    ? []
    : [...caches.by(pods, claimsOfPod, key)].filter((pod) => pod.spec?.nodeName && !hasEnded(pod))
}
