/** The names of attachments, and of volumes in the status of nodes. */
import { createHash } from 'node:crypto'

/** The VolumeAttachment of a volume on a node, as upstream calls it: the same wherever it is worked out. */
export const attachmentName = (handle: string, driver: string, node: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${node}`).digest('hex')}`

/** A volume in `status.volumesAttached` and `status.volumesInUse` of a node. */
export const nodeVolumeName = (driver: string, handle: string): string => `kubernetes.io/csi/${driver}^${handle}`
