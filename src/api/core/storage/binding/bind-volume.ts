/** Sets the claimRef of a volume, for the binder and the scheduler. */
import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import { boundByController, withAnnotations } from './annotations.ts'
import { isBoundOrReserved } from './matching.ts'

type PersistentVolume = Model<V1PersistentVolume>
type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>

/**
 * Returns the volume with a reference to the claim; the same object if it has one with a uid. Adds the
 * bound-by-controller annotation unless the volume was reserved for the claim.
 */
export function boundVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const isReserved = isBoundOrReserved(volume, claim)
  if (isReserved && volume.spec?.claimRef?.uid) return volume
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion }
  const owned = { ...volume, spec: { ...volume.spec, claimRef } }
  return isReserved ? owned : withAnnotations(owned, { [boundByController]: 'yes' })
}
