/** Index functions by which nodes find their pods and attachments. */
import type { Pod, VolumeAttachment } from '../../../client/kinds.ts'

/** Pods with claims by node. */
export const podsByNode = ({ spec }: Pod): readonly string[] =>
  spec?.nodeName && spec.volumes?.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim || ephemeral)
    ? [spec.nodeName]
    : []

export const attachmentsByNode = ({ spec }: VolumeAttachment): readonly string[] =>
  spec?.nodeName ? [spec.nodeName] : []

export const attachmentsByVolume = (attachment: VolumeAttachment): readonly string[] => [volumeName(attachment)]

export const volumeName = ({ spec }: VolumeAttachment): string => spec?.source?.persistentVolumeName ?? ''
