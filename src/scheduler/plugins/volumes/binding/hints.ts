/** Queueing hints: changes that may help a pod that was rejected because of its volumes. */
import { isDeepStrictEqual } from 'node:util'
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from '../../../../client/kinds.ts'
import { compareQuantities } from '../../../../machinery/values/quantity.ts'
import { type EventRegistration, on } from '../../../framework/index.ts'
import { usesClaim } from '../pod-volumes.ts'

const migrated = (node: CSINode | undefined): string | undefined =>
  node?.metadata.annotations?.['storage.alpha.kubernetes.io/migrated-plugins']

export const events: readonly EventRegistration[] = [
  on('StorageClass', ['Add', 'Update'], (_pod, before, after) => allowsMore(before, after)),
  on('PersistentVolumeClaim', ['Add', 'Update'], (pod, _before, after) => usesClaim(pod, after)),
  on('PersistentVolume', ['Add', 'Update']),
  on('Node', ['Add', 'UpdateLabel']),
  on('CSINode', ['Add', 'Update'], (_pod, before, after) => migrated(before) !== migrated(after)),
  on('CSIDriver', ['Update'], (_pod, before, after) => countsLess(before, after)),
  on('CSIStorageCapacity', ['Add', 'Update'], (_pod, before, after) =>
    hasMore(before as CSIStorageCapacity | undefined, after as CSIStorageCapacity | undefined),
  ),
]

const allowsMore = (before: StorageClass | undefined, after: StorageClass | undefined): boolean =>
  !before || !isDeepStrictEqual(before.allowedTopologies, after?.allowedTopologies)

/** True if the driver's capacity no longer counts. */
const countsLess = (before: CSIDriver | undefined, after: CSIDriver | undefined): boolean =>
  before?.spec.storageCapacity === true && after?.spec.storageCapacity !== true

function hasMore(before: CSIStorageCapacity | undefined, after: CSIStorageCapacity | undefined): boolean {
  if (!before || !after) return true
  const grew = (was: string | undefined, is: string | undefined): boolean =>
    compareQuantities(is ?? '0', was ?? '0') > 0
  return (
    grew(before.capacity, after.capacity) ||
    grew(before.maximumVolumeSize, after.maximumVolumeSize) ||
    !isDeepStrictEqual(before.nodeTopology, after.nodeTopology)
  )
}
