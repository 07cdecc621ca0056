/** Volumes, claims, classes and pods for tests. */
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../../client/kinds.ts'
import type { ObjectMeta } from '../../../machinery/object.ts'
import { aPod } from '../../testing/objects.fixture.ts'

type VolumeSpec = NonNullable<PersistentVolume['spec']>
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>

/** An available volume of 1Gi. */
export const aVolume = (name: string, spec: VolumeSpec = {}, metadata: ObjectMeta = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, ...metadata },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
  status: { phase: spec.claimRef ? 'Bound' : 'Available' },
})

/** The node affinity of a volume that can be used on these nodes only. */
export const onlyOn = (...values: string[]): VolumeSpec => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }],
    },
  },
})

/** A claim for 1Gi; one with a volume is bound. */
export const aClaim = (name: string, spec: ClaimSpec = {}, metadata: ObjectMeta = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    namespace: 'default',
    name,
    uid: `uid-of-${name}`,
    ...(spec.volumeName && { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    ...metadata,
  },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  status: { phase: spec.volumeName ? 'Bound' : 'Pending' },
})

export const aClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
})

/** A pod with these claims, on a node if one is given. */
export const aPodWith = (name: string, claims: readonly string[], nodeName?: string): Pod =>
  aPod(name, {
    nodeName,
    volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  })
