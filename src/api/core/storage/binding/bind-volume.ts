/** A volume that becomes a claim's, as the binder and the scheduler write it. */
import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import { annotated, boundByController } from './annotations.ts'
import { isFor } from './matching.ts'

type PersistentVolume = Model<V1PersistentVolume>
type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>

/**
 * The volume with the claim's name and uid; the very same object if it has them. Who was chosen by nobody else says so.
 */
export function boundVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const isKept = isFor(volume, claim)
  if (isKept && volume.spec?.claimRef?.uid) return volume
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion }
  const owned = { ...volume, spec: { ...volume.spec, claimRef } }
  return isKept ? owned : annotated(owned, { [boundByController]: 'yes' })
}
