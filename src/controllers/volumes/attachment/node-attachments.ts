/** Attaches and detaches the volumes of a node. */
import { isDeepStrictEqual } from 'node:util'
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import {
  persistentVolumeClaims as claims,
  csiDrivers,
  type Node,
  nodes,
  type Pod,
  pods,
  type VolumeAttachment,
  volumeAttachments,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { hasEnded } from '../../pods/phase.ts'
import { claimKey } from '../binder/indexes.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { AttachmentEvents } from './attachment-events.ts'
import { type DesiredVolume, desiredVolumes, type VolumeSources } from './desired-volumes.ts'
import { podsByNode } from './indexes.ts'
import { KnownAttachments } from './known-attachments.ts'
import { type AttachmentPlan, type ForceReason, isHealthy, planAttachments } from './plan.ts'
import { UnmountWaits } from './unmount-waits.ts'
import { WaitingNodes } from './waiting-nodes.ts'

/** The annotation on nodes whose kubelet leaves attaching to this controller. */
const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'

export interface NodeAttachmentsOptions {
  /** Time until an unused volume is detached from an unresponsive node, in ms. */
  readonly maxWaitForUnmountMs: number
  /** Period of retrying failed attachments and repeating their events, in ms. */
  readonly syncPeriodMs: number
  /** True if volumes are detached from an unresponsive node only after it is out of service. */
  readonly neverForce: boolean
  /** Returns ms. */
  readonly now: () => number
}

export class NodeAttachments {
  readonly #attachments = new KnownAttachments()
  readonly #waitingNodes = new WaitingNodes()
  readonly #unmountWaits: UnmountWaits
  readonly #events: AttachmentEvents
  readonly #neverForce: boolean
  readonly #countForcedDetach: (reason: ForceReason) => void

  constructor(options: NodeAttachmentsOptions, countForcedDetach: (reason: ForceReason) => void) {
    const { maxWaitForUnmountMs, syncPeriodMs, neverForce, now } = options
    this.#unmountWaits = new UnmountWaits(maxWaitForUnmountMs, now)
    this.#events = new AttachmentEvents(syncPeriodMs, now)
    this.#neverForce = neverForce
    this.#countForcedDetach = countForcedDetach
  }

  async sync(name: string, context: ReconcileContext): Promise<void> {
    const { caches } = context
    const node = caches.get(nodes, '', name)
    const attachments = this.#attachments.ofNode(name, caches)
    if (node && node.metadata.annotations?.[managedAnnotation] !== 'true') return
    if (!node && attachments.length === 0) return
    const nodePods = [...caches.by(pods, podsByNode, name)]
    const plan = this.#plan(name, node, nodePods, attachments, context)
    // The node's status is updated before volumes are detached: its kubelet uses the volumes listed there.
    await reportAttached(name, plan, context)
    await this.#detach(plan, context)
    for (const { name: attachment, desired } of plan.attach) await this.#attach(attachment, desired, name, context)
    const users = (volume: string): Pod[] => usersOf(volume, context).filter((pod) => nodePods.includes(pod))
    this.#events.record(name, plan, attachments, users, context)
    this.#updateUnmountWaits(name, node, attachments, plan, context)
    const blocked = new Set(plan.blocked.map(({ desired }) => desired.volume.metadata.name ?? ''))
    for (const volume of this.#waitingNodes.update(name, blocked)) this.#events.unblocked(name, volume)
  }

  /** The nodes that wait for a volume. */
  nodesWaitingFor(volume: string): Iterable<string> {
    return this.#waitingNodes.of(volume)
  }

  /** Processes a change of an attachment from the informer; `attachment` is undefined after a deletion. */
  observe(name: string, attachment: VolumeAttachment | undefined): void {
    this.#attachments.observe(name)
    if (!attachment) this.#events.forget(name)
  }

  #plan(
    name: string,
    node: Node | undefined,
    nodePods: readonly Pod[],
    attachments: readonly VolumeAttachment[],
    context: ReconcileContext,
  ): AttachmentPlan {
    const sources = sourcesOf(context)
    return planAttachments({
      name,
      node,
      desired: desiredVolumes(nodePods, sources),
      attachments,
      elsewhere: (volume) =>
        this.#attachments.ofVolume(volume, context.caches).filter(({ spec }) => spec?.nodeName !== name),
      usersElsewhere: (volume) =>
        usersOf(volume, context).filter(({ spec }) => spec?.nodeName && spec.nodeName !== name),
      volume: sources.volume,
      hasTimedOut: (attachment) => !this.#neverForce && this.#unmountWaits.remainingMs(attachment) <= 0,
    })
  }

  async #detach({ detach, forced }: AttachmentPlan, { client }: ReconcileContext): Promise<void> {
    for (const { metadata } of detach) {
      const { name = '', uid } = metadata
      await client.delete(volumeAttachments, '', name, { uid }).catch(ignoreNotFound)
      this.#unmountWaits.end(name)
    }
    for (const reason of forced) this.#countForcedDetach(reason)
  }

  async #attach(
    name: string,
    { driver: attacher, volume }: DesiredVolume,
    nodeName: string,
    { client }: ReconcileContext,
  ): Promise<void> {
    this.#events.requested(name)
    const attachment: VolumeAttachment = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name },
      spec: { attacher, nodeName, source: { persistentVolumeName: volume.metadata.name } },
    }
    await this.#attachments.create(attachment, client)
  }

  /** Requeues an unresponsive node for when the waits for its held attachments time out. */
  #updateUnmountWaits(
    name: string,
    node: Node | undefined,
    attachments: readonly VolumeAttachment[],
    plan: AttachmentPlan,
    { requeue }: ReconcileContext,
  ): void {
    const held = new Set(plan.held)
    for (const attachment of held) {
      this.#unmountWaits.start(attachment)
      if (!isHealthy(node)) requeue(name, Math.max(0, this.#unmountWaits.remainingMs(attachment)) + 1)
    }
    for (const { metadata } of attachments)
      if (!held.has(metadata.name ?? '')) this.#unmountWaits.end(metadata.name ?? '')
  }
}

/** Updates `status.volumesAttached` of the node. */
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
