/** storage.k8s.io, in the order of its discovery. */
import { csiDrivers } from './csi-driver.ts'
import { csiNodes } from './csi-node.ts'
import { csiStorageCapacities } from './csi-storage-capacity.ts'
import { storageClasses } from './storage-class.ts'
import { volumeAttachments } from './volume-attachment.ts'
import { betaVolumeAttributesClasses, volumeAttributesClasses } from './volume-attributes-class.ts'

export const resources = [
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  storageClasses,
  volumeAttachments,
  volumeAttributesClasses,
  betaVolumeAttributesClasses,
]
