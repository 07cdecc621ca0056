/** What is to be attached to a node, and detached from it: a pure function of who wants what and of what is there. */
import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../../client/kinds.ts'
import { attachmentName, nodeVolumeName } from './names.ts'
import { isShareable, type WantedVolume } from './wanted.ts'

const outOfService = 'node.kubernetes.io/out-of-service'

/** What the status of a node says is attached. */
export type AttachedVolume = NonNullable<NonNullable<Node['status']>['volumesAttached']>[number]

/** The node is said to be out of service, or has not been heard of for too long. */
export type ForceReason = 'out-of-service' | 'timeout'

export interface AttachmentPlan {
  readonly attach: readonly { readonly name: string; readonly wanted: WantedVolume }[]
  /** Others have them, and they are not to be shared. */
  readonly blocked: readonly { readonly wanted: WantedVolume; readonly message: string }[]
  readonly detach: readonly VolumeAttachment[]
  /** Why those of them are detached that their node has not let go of. */
  readonly forced: readonly ForceReason[]
  /** Unused, but the node has not let go of them yet: by the attachment's name. */
  readonly held: readonly string[]
  readonly attached: readonly AttachedVolume[]
}

export interface NodeState {
  readonly name: string
  /** Missing where the node has been deleted. */
  readonly node: Node | undefined
  readonly wanted: ReadonlyMap<string, WantedVolume>
  /** Those of this node. */
  readonly attachments: readonly VolumeAttachment[]
  /** Where else a volume is attached. */
  elsewhere(volume: string): readonly VolumeAttachment[]
  /** Pods on other nodes that use a volume. */
  usersElsewhere(volume: string): readonly Pod[]
  /** By the volume's name. */
  volume(name: string): PersistentVolume | undefined
  /** Whether a node that does not answer was waited for long enough, by the attachment's name. */
  hasWaited(attachment: string): boolean
}

export function planAttachments(state: NodeState): AttachmentPlan {
  const { name: node, wanted, attachments } = state
  const names = new Set(attachments.map(({ metadata }) => metadata.name))
  const attach: { name: string; wanted: WantedVolume }[] = []
  const blocked: { wanted: WantedVolume; message: string }[] = []
  for (const [volume, want] of wanted) {
    const name = attachmentName(want.handle, want.driver, node)
    if (names.has(name)) continue
    const isTaken = !isShareable(want.volume) && state.elsewhere(volume).length > 0
    if (isTaken) blocked.push({ wanted: want, message: multiAttach(volume, want.pods, state.usersElsewhere(volume)) })
    else if (state.node) attach.push({ name, wanted: want })
  }
  const unused = attachments.filter((attachment) => isOurs(attachment, state) && !wanted.has(volumeName(attachment)))
  const going = unused.filter(({ metadata }) => !metadata.deletionTimestamp)
  const isHeld = (attachment: VolumeAttachment): boolean => mountedOn(state, attachment) && !lossOf(state, attachment)
  const detach = going.filter((attachment) => !isHeld(attachment))
  const reported = attachments.filter(
    (attachment) =>
      attachment.status?.attached && !detach.includes(attachment) && !attachment.metadata.deletionTimestamp,
  )
  return {
    attach,
    blocked,
    detach,
    forced: detach.flatMap((attachment) => (mountedOn(state, attachment) ? (lossOf(state, attachment) ?? []) : [])),
    held: going.filter(isHeld).map(({ metadata }) => metadata.name ?? ''),
    attached: reported.flatMap((attachment) => {
      const name = nameOnNode(state, attachment)
      return name ? [{ name, devicePath: attachment.status?.attachmentMetadata?.devicePath ?? '' }] : []
    }),
  }
}

export const volumeName = ({ spec }: VolumeAttachment): string => spec?.source?.persistentVolumeName ?? ''

/** Attachments that somebody made by hand are theirs; ours can be told by their name, or their volume is gone. */
function isOurs({ metadata, spec }: VolumeAttachment, { name: node, volume: find }: NodeState): boolean {
  const csi = find(spec?.source?.persistentVolumeName ?? '')?.spec?.csi
  if (csi) return metadata.name === attachmentName(csi.volumeHandle, csi.driver, node)
  return /^csi-[0-9a-f]{64}$/.test(metadata.name ?? '') && spec?.source?.persistentVolumeName !== undefined
}

function nameOnNode({ volume: find }: NodeState, attachment: VolumeAttachment): string | undefined {
  const csi = find(volumeName(attachment))?.spec?.csi
  return csi && nodeVolumeName(csi.driver, csi.volumeHandle)
}

function mountedOn(state: NodeState, attachment: VolumeAttachment): boolean {
  const name = nameOnNode(state, attachment)
  return name !== undefined && (state.node?.status?.volumesInUse?.includes(name) ?? false)
}

/** Why a node will never say that it has let go; undefined for one that may. */
function lossOf({ node, hasWaited }: NodeState, { metadata }: VolumeAttachment): ForceReason | undefined {
  if (node?.spec?.taints?.some(({ key }) => key === outOfService)) return 'out-of-service'
  return !isHealthy(node) && hasWaited(metadata.name ?? '') ? 'timeout' : undefined
}

export const isHealthy = (node: Node | undefined): boolean =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

/** In upstream's words: pods of other namespaces are counted, not named. */
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
