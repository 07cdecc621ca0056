/**
 * Volumes that are directories of this machine, as upstream's `kubernetes.io/host-path` makes them: for clusters of one
 * machine.
 */
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
  /** Holds one directory for each volume. */
  readonly directory: string
}

/** Whoever a container runs as may write. */
const everyone = 0o777

/** Makes a directory for a claim, and says what its volume is. May be called again for the same claim. */
export async function makeHostPath(
  claim: PersistentVolumeClaim,
  { metadata, reclaimPolicy, mountOptions }: StorageClass,
  { directory }: HostPathOptions,
): Promise<PersistentVolume> {
  const { namespace, name: claimName, uid, resourceVersion } = claim.metadata
  const name = `pvc-${uid}`
  const path = join(resolve(directory), name)
  makeDirectory(path, everyone)
  // The mode of a new directory is cut by the umask.
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

/**
 * Removes a volume's directory. Only what lies directly below the provisioner's own is removed: rejects for any other
 * path.
 */
export async function removeHostPath(path: string, { directory }: HostPathOptions): Promise<void> {
  const root = resolve(directory)
  if (dirname(resolve(path)) !== root)
    throw new Error(`host_path deleter only supports ${root}/.+ but received provided ${path}`)
  await rm(resolve(path), { recursive: true, force: true })
}
