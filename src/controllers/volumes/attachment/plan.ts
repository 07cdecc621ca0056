/** Plans the attachments of a node. Pure function of desired volumes and existing attachments. */

import { attachmentName, nodeVolumeName } from '../../../api/storage/attachment-names.ts'
import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../../client/kinds.ts'
import { type DesiredVolume, isShareable } from './desired-volumes.ts'
import { volumeName } from './indexes.ts'

const outOfService = 'node.kubernetes.io/out-of-service'

/** An entry of `status.volumesAttached` of a node. */
export type AttachedVolume = NonNullable<NonNullable<Node['status']>['volumesAttached']>[number]

/** The reason for a forced detach: the node is tainted as out of service, or unresponsive for too long. */
export type ForceReason = 'out-of-service' | 'timeout'

export interface AttachmentPlan {
  readonly attach: readonly { readonly name: string; readonly desired: DesiredVolume }[]
  /** Desired volumes that are attached elsewhere and not shareable. */
  readonly blocked: readonly { readonly desired: DesiredVolume; readonly message: string }[]
  readonly detach: readonly VolumeAttachment[]
  /** Reasons for the detaches of mounted volumes. */
  readonly forced: readonly ForceReason[]
  /** Names of attachments that are unused but still mounted. */
  readonly held: readonly string[]
  readonly attached: readonly AttachedVolume[]
}

export interface NodeState {
  readonly name: string
  /** Undefined if the node was deleted. */
  readonly node: Node | undefined
  readonly desired: ReadonlyMap<string, DesiredVolume>
  /** The attachments of this node. */
  readonly attachments: readonly VolumeAttachment[]
  /** Attachments of a volume to other nodes. */
  elsewhere(volume: string): readonly VolumeAttachment[]
  /** Pods on other nodes that use a volume. */
  usersElsewhere(volume: string): readonly Pod[]
  /** Looks up a volume by name. */
  volume(name: string): PersistentVolume | undefined
  /** Returns true if an attachment on an unresponsive node has timed out. */
  hasTimedOut(attachment: string): boolean
}

export function planAttachments(state: NodeState): AttachmentPlan {
  const { name: node, desired, attachments } = state
  const names = new Set(attachments.map(({ metadata }) => metadata.name))
  const attach: { name: string; desired: DesiredVolume }[] = []
  const blocked: { desired: DesiredVolume; message: string }[] = []
  for (const [volume, item] of desired) {
    const name = attachmentName(item.handle, item.driver, node)
    if (names.has(name)) continue
    const isTaken = !isShareable(item.volume) && state.elsewhere(volume).length > 0
    if (isTaken) blocked.push({ desired: item, message: multiAttach(volume, item.pods, state.usersElsewhere(volume)) })
    else if (state.node) attach.push({ name, desired: item })
  }
  const unused = attachments.filter((attachment) => isOurs(attachment, state) && !desired.has(volumeName(attachment)))
  const detachable = unused.filter(({ metadata }) => !metadata.deletionTimestamp)
  const isHeld = (attachment: VolumeAttachment): boolean =>
    isMounted(state, attachment) && !forceReasonOf(state, attachment)
  const detach = detachable.filter((attachment) => !isHeld(attachment))
  const reported = attachments.filter(
    (attachment) =>
      attachment.status?.attached && !detach.includes(attachment) && !attachment.metadata.deletionTimestamp,
  )
  return {
    attach,
    blocked,
    detach,
    forced: detach.flatMap((attachment) =>
      isMounted(state, attachment) ? (forceReasonOf(state, attachment) ?? []) : [],
    ),
    held: detachable.filter(isHeld).map(({ metadata }) => metadata.name ?? ''),
    attached: reported.flatMap((attachment) => {
      const name = nameOnNode(state, attachment)
      return name ? [{ name, devicePath: attachment.status?.attachmentMetadata?.devicePath ?? '' }] : []
    }),
  }
}

/** Returns true if this controller created the attachment, by the format of its name. */
function isOurs({ metadata, spec }: VolumeAttachment, { name: node, volume: find }: NodeState): boolean {
  const csi = find(spec?.source?.persistentVolumeName ?? '')?.spec?.csi
  if (csi) return metadata.name === attachmentName(csi.volumeHandle, csi.driver, node)
  return /^csi-[0-9a-f]{64}$/.test(metadata.name ?? '') && spec?.source?.persistentVolumeName !== undefined
}

function nameOnNode({ volume: find }: NodeState, attachment: VolumeAttachment): string | undefined {
  const csi = find(volumeName(attachment))?.spec?.csi
  return csi && nodeVolumeName(csi.driver, csi.volumeHandle)
}

function isMounted(state: NodeState, attachment: VolumeAttachment): boolean {
  const name = nameOnNode(state, attachment)
  return name !== undefined && (state.node?.status?.volumesInUse?.includes(name) ?? false)
}

/** The reason to assume that a node will never unmount; undefined if it may. */
function forceReasonOf({ node, hasTimedOut }: NodeState, { metadata }: VolumeAttachment): ForceReason | undefined {
  if (node?.spec?.taints?.some(({ key }) => key === outOfService)) return 'out-of-service'
  return !isHealthy(node) && hasTimedOut(metadata.name ?? '') ? 'timeout' : undefined
}

export const isHealthy = (node: Node | undefined): boolean =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

/** Upstream's message: pods of other namespaces are counted, not named. */
export function multiAttach(volume: string, pods: readonly Pod[], users: readonly Pod[]): string {
  const start = `Multi-Attach error for volume "${volume}" `
  if (users.length === 0)
    return `${start}Volume is already exclusively attached to one node and can't be attached to another`
  const namespace = pods[0]?.metadata.namespace
  const known = users
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name ?? '')
  const others = users.length - known.length
  const counted = `${others} pod(s) in different namespaces`
  if (known.length === 0) return `${start}Volume is already used by ${counted}`
  return `${start}Volume is already used by pod(s) ${known.sort().join(', ')}${others > 0 ? ` and ${counted}` : ''}`
}
