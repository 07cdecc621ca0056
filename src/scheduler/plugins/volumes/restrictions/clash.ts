/** Whether two volumes are one disk that cannot be mounted twice on a node. */
import type { PodVolume } from '../pod-volumes.ts'

/** Volumes of these kinds may clash. */
export const isExclusiveKind = ({ gcePersistentDisk, awsElasticBlockStore, rbd, iscsi }: PodVolume): boolean =>
  Boolean(gcePersistentDisk ?? awsElasticBlockStore ?? rbd ?? iscsi)

/** Disks of Google, iSCSI and Ceph may be read by many at once; those of Amazon may not. */
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
