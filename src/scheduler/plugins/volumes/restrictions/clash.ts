/** Returns true if two volumes are the same disk, which cannot be mounted twice on a node. */
import type { PodVolume } from '../pod-volumes.ts'

/** Returns true for volumes of kinds that may conflict. */
export const isExclusiveKind = ({ gcePersistentDisk, awsElasticBlockStore, rbd, iscsi }: PodVolume): boolean =>
  Boolean(gcePersistentDisk ?? awsElasticBlockStore ?? rbd ?? iscsi)

/** GCE, iSCSI and RBD disks may be shared if all mounts are read-only; EBS disks may not. */
export function clash(a: PodVolume, b: PodVolume): boolean {
  const [disk, otherDisk] = [a.gcePersistentDisk, b.gcePersistentDisk]
  if (disk && otherDisk) return disk.pdName === otherDisk.pdName && !(disk.readOnly && otherDisk.readOnly)
  const [store, otherStore] = [a.awsElasticBlockStore, b.awsElasticBlockStore]
  if (store && otherStore) return store.volumeID === otherStore.volumeID
  const [target, otherTarget] = [a.iscsi, b.iscsi]
  if (target && otherTarget) return target.iqn === otherTarget.iqn && !(target.readOnly && otherTarget.readOnly)
  const [image, otherImage] = [a.rbd, b.rbd]
  if (!image || !otherImage) return false
  const isSame = (image.pool ?? 'rbd') === (otherImage.pool ?? 'rbd') && image.image === otherImage.image
  return (
    isSame &&
    image.monitors.some((monitor) => otherImage.monitors.includes(monitor)) &&
    !(image.readOnly && otherImage.readOnly)
  )
}
