/**
 * Volumes that are directories of this machine, and the storage class that provisions them
 * (`--enable-hostpath-provisioner`).
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Connection } from '../../client/connection/connection.ts'
import { type StorageClass, storageClasses } from '../../client/kinds.ts'
import { isAlreadyExists } from '../../client/rest/api-errors.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import type { DataDirectory } from '../data-directory.ts'
import { memoryVolumes } from './memory-volumes.ts'

const enableFlag = 'enable-hostpath-provisioner'
const directoryFlag = 'hostpath-provisioner-directory'
/** Containers may run as any user. */
const passable = 0o755

export interface HostPathStorage {
  /** Flags of the controllers, including the directory. */
  readonly flags: Readonly<Record<string, string>>
  /** Creates the default class once in the life of a cluster, so that users can delete or change it. */
  begin(administrator: Access): Promise<void>
  /** Removes the directories of a cluster in memory. */
  end(): Promise<void>
}

/** `data` is undefined for a cluster in memory, whose volumes are removed with it. */
export function hostPathStorage(given: Readonly<Record<string, string>> = {}, data?: DataDirectory): HostPathStorage {
  if (given[enableFlag] !== 'true') return { flags: given, begin: async () => {}, end: async () => {} }
  // Created with the first volume.
  const ownDirectory = data || given[directoryFlag] ? undefined : memoryVolumes.newPath()
  const directory = given[directoryFlag] ?? data?.volumes ?? ownDirectory ?? ''
  return {
    flags: { ...given, [directoryFlag]: directory },
    async begin(administrator) {
      // The directory is created after the class.
      if (!ownDirectory && existsSync(directory)) return
      await makeClass(administrator)
      if (ownDirectory) void memoryVolumes.removeAbandoned()
      else makeDirectory(directory, passable)
    },
    async end() {
      if (ownDirectory) await rm(ownDirectory, { recursive: true, force: true })
    },
  }
}

const standardClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/host-path',
  reclaimPolicy: 'Delete',
  // All nodes are this machine, so every directory is local to all of them.
  volumeBindingMode: 'Immediate',
}

async function makeClass(administrator: Access): Promise<void> {
  const connection = new Connection(administrator)
  try {
    await new RestClient(connection).create(storageClasses, standardClass)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  } finally {
    connection.close()
  }
}
