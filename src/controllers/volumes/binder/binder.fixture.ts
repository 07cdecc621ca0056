/** Volumes and claims for tests of the binder. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts'

type VolumeSpec = NonNullable<PersistentVolume['spec']>
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>

/** An available volume of 1Gi. */
export const volumeOf = (
  name: string,
  spec: VolumeSpec = {},
  more: { phase?: string; metadata?: PersistentVolume['metadata'] } = {},
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, ...more.metadata },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    ...spec,
  },
  status: { phase: more.phase ?? 'Available' },
})

/** A pending claim for 1Gi. */
export const claimOf = (
  name: string,
  spec: ClaimSpec = {},
  metadata: PersistentVolumeClaim['metadata'] = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'ns', name, uid: `uid-of-${name}`, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  status: { phase: 'Pending' },
})
