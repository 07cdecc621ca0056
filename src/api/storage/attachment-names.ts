/** Names of attachments and of volumes in the status of nodes. */
import { createHash } from 'node:crypto'

/** The name of the VolumeAttachment of a volume on a node, as upstream computes it. */
export const attachmentName = (handle: string, driver: string, node: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${node}`).digest('hex')}`

/** The name of a volume in a node's `status.volumesAttached` and `status.volumesInUse`. */
export const nodeVolumeName = (driver: string, handle: string): string => `kubernetes.io/csi/${driver}^${handle}`
