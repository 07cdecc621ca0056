/**
 * Has volumes attached to the nodes whose pods use them, and detached when nobody does: CSI drivers do it, this asks
 * them by VolumeAttachments.
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
import { hasEnded } from '../../pods/phase.ts'
import { unlessGone } from '../../refusals.ts'
import { claimKey } from '../binder/indexes.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { AttachmentOutcomes } from './outcomes.ts'
import { type AttachmentPlan, isHealthy, planAttachments, volumeName } from './plan.ts'
import { type VolumeSources, wantedVolumes } from './wanted.ts'

/** On nodes whose kubelet leaves attaching to this controller. */
const managed = 'volumes.kubernetes.io/controller-managed-attach-detach'

export interface AttachmentOptions {
  /** How long a node that does not answer may hold a volume that nobody uses, in ms. */
  readonly maxWaitForUnmountMs: number
  /** How often what could not be attached is looked at and told requeue, in ms. */
  readonly syncPeriodMs: number
  /** A node that does not answer keeps its volumes until it is said to be out of service. */
  readonly neverForce: boolean
  /** Where it counts; nobody sees it unless said. */
  readonly registry?: MetricsRegistry
  /** Milliseconds. */
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
  /** Nodes that wait for a volume that another one has, by the volume. */
  const waiting = new Map<string, Set<string>>()
  /** Since when nobody uses what a node still holds, by the attachment; in ms. */
  const unusedSince = new Map<string, number>()
  /** Attachments that were made and are not in the caches yet, by their names. */
  const fresh = new Map<string, VolumeAttachment>()
  const outcomes = new AttachmentOutcomes(syncPeriodMs, now)

  async function reconcile(name: string, context: ReconcileContext): Promise<void> {
    const { caches, requeue } = context
    const node = caches.get(nodes, '', name)
    const attachments = [
      ...caches.by(volumeAttachments, attachmentsByNode, name),
      ...[...fresh.values()].filter(({ spec }) => spec?.nodeName === name),
    ]
    if (node && node.metadata.annotations?.[managed] !== 'true') return
    if (!node && attachments.length === 0) return
    const sources = sourcesOf(context)
    const here = [...caches.by(pods, byNode, name)]
    const plan = planAttachments({
      name,
      node,
      wanted: wantedVolumes(here, sources),
      attachments,
      elsewhere: (volume) =>
        [
          ...caches.by(volumeAttachments, attachmentsByVolume, volume),
          ...[...fresh.values()].filter((made) => volumeName(made) === volume),
        ].filter(({ spec }) => spec?.nodeName !== name),
      usersElsewhere: (volume) =>
        usersOf(volume, context).filter(({ spec }) => spec?.nodeName && spec.nodeName !== name),
      volume: sources.volume,
      hasWaited: (attachment) => !neverForce && now() - (unusedSince.get(attachment) ?? now()) >= maxWaitForUnmountMs,
    })
    // The node is told first: what it is told is attached, its kubelet uses.
    await reportAttached(name, plan, context)
    for (const { metadata } of plan.detach) {
      await context.client.delete(volumeAttachments, '', metadata.name ?? '', { uid: metadata.uid }).catch(unlessGone)
      unusedSince.delete(metadata.name ?? '')
    }
    for (const reason of plan.forced) forced([reason]).add()
    await attach(name, plan, context)
    outcomes.tell(
      name,
      plan,
      attachments,
      (volume) => usersOf(volume, context).filter((pod) => here.includes(pod)),
      context,
    )
    for (const attachment of plan.held) {
      if (!unusedSince.has(attachment)) unusedSince.set(attachment, now())
      if (!isHealthy(node))
        requeue(name, Math.max(0, (unusedSince.get(attachment) ?? now()) + maxWaitForUnmountMs - now()) + 1)
    }
    const held = new Set(plan.held)
    for (const { metadata } of attachments) if (!held.has(metadata.name ?? '')) unusedSince.delete(metadata.name ?? '')
    rememberBlocked(name, new Set(plan.blocked.map(({ wanted }) => wanted.volume.metadata.name ?? '')))
  }

  function rememberBlocked(node: string, blocked: ReadonlySet<string>): void {
    for (const volume of blocked) waiting.set(volume, (waiting.get(volume) ?? new Set()).add(node))
    for (const [volume, waiters] of waiting) {
      if (blocked.has(volume) || !waiters.delete(node)) continue
      outcomes.unblocked(node, volume)
      if (waiters.size === 0) waiting.delete(volume)
    }
  }

  async function attach(
    nodeName: string,
    { attach: missing }: AttachmentPlan,
    { client }: ReconcileContext,
  ): Promise<void> {
    for (const { name, wanted } of missing) {
      const attachment: VolumeAttachment = {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name },
        spec: { attacher: wanted.driver, nodeName, source: { persistentVolumeName: wanted.volume.metadata.name } },
      }
      try {
        // Seen before the caches have it: no other node gets the volume in between.
        fresh.set(name, attachment)
        outcomes.asked(name)
        await client.create(volumeAttachments, attachment)
      } catch (error) {
        fresh.delete(name)
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
    await client.patch(nodes, '', name, patch, 'merge', 'status').catch(unlessGone)
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
          fresh.delete(name)
          if (!attachment) outcomes.forget(name)
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

/** The pods with a node that use a volume. */
function usersOf(volume: string, { caches }: ReconcileContext): Pod[] {
  const found = caches.get(volumes, '', volume)
  const key = found && claimKey(found)
  return key === undefined
    ? []
    : [...caches.by(pods, claimsOfPod, key)].filter((pod) => pod.spec?.nodeName && !hasEnded(pod))
}
