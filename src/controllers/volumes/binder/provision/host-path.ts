/** The provisioner `kubernetes.io/host-path`: volumes are directories of this machine, for single-node clusters. */
import { chmod, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  boundByController,
  deletionFinalizer,
  provisionedBy,
} from '../../../../api/core/storage/binding/annotations.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../../client/kinds.ts'
import { makeDirectory } from '../../../../lib/files/make-directory.ts'

export const hostPathProvisioner = 'kubernetes.io/host-path'

export interface HostPathOptions {
  readonly enabled: boolean
  /** Parent directory of the volumes. */
  readonly directory: string
}

/** Containers may run as any user. */
const everyone = 0o777

/** Creates a directory for a claim and returns its volume. Idempotent. */
export async function createHostPath(
  claim: PersistentVolumeClaim,
  { metadata, reclaimPolicy, mountOptions }: StorageClass,
  { directory }: HostPathOptions,
): Promise<PersistentVolume> {
  const { namespace, name: claimName, uid, resourceVersion } = claim.metadata
  const name = `pvc-${uid}`
  const path = join(resolve(directory), name)
  makeDirectory(path, everyone)
  // mkdir applies the umask.
  await chmod(path, everyone)
  const persistentVolumeReclaimPolicy = reclaimPolicy ?? 'Delete'
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      annotations: { [boundByController]: 'yes', [provisionedBy]: hostPathProvisioner },
      ...(persistentVolumeReclaimPolicy === 'Delete' && { finalizers: [deletionFinalizer] }),
    },
    spec: {
      persistentVolumeReclaimPolicy,
      accessModes: claim.spec?.accessModes,
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      hostPath: { path },
      claimRef: { kind: 'PersistentVolumeClaim', namespace, name: claimName, uid, apiVersion: 'v1', resourceVersion },
      storageClassName: metadata.name,
      ...(mountOptions && { mountOptions }),
    },
  }
}

/** Removes a volume's directory. Rejects if it is not directly below the provisioner's directory. */
export async function removeHostPath(path: string, { directory }: HostPathOptions): Promise<void> {
  const root = resolve(directory)
  if (dirname(resolve(path)) !== root)
    throw new Error(`host_path deleter only supports ${root}/.+ but received provided ${path}`)
  await rm(resolve(path), { recursive: true, force: true })
}
