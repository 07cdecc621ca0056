/**
 * Where volumes of a cluster lie that are directories of this machine, and the class by which claims get them
 * (`--enable-hostpath-provisioner`).
 */
import { existsSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from '../client/connection/connection.ts'
import { type StorageClass, storageClasses } from '../client/kinds.ts'
import { isAlreadyExists } from '../client/rest/api-errors.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import type { Access } from '../kubeconfig/kubeconfig.ts'
import { makeDirectory } from '../lib/files/make-directory.ts'
import type { DataDirectory } from './data-directory.ts'

const enabling = 'enable-hostpath-provisioner'
const where = 'hostpath-provisioner-directory'
/** Whoever containers run as has to come through. */
const passable = 0o755

export interface HostPathStorage {
  /** Flags of controllers with the directory among them. */
  readonly flags: Readonly<Record<string, string>>
  /** Makes the default class, once in the life of a cluster: who deletes or changes it is not overruled. */
  begin(administrator: Access): Promise<void>
  /** Removes what a cluster in memory leaves. */
  end(): Promise<void>
}

/** `data` is missing where a cluster lives in memory: its volumes live as long. */
export function hostPathStorage(given: Readonly<Record<string, string>> = {}, data?: DataDirectory): HostPathStorage {
  if (given[enabling] !== 'true') return { flags: given, begin: async () => {}, end: async () => {} }
  const ownDirectory = data || given[where] ? undefined : mkdtempSync(join(tmpdir(), 't8s-volumes-'))
  const directory = given[where] ?? data?.volumes ?? ownDirectory ?? ''
  return {
    flags: { ...given, [where]: directory },
    async begin(administrator) {
      // The directory is there since the class was made.
      if (!ownDirectory && existsSync(directory)) return
      await makeClass(administrator)
      makeDirectory(directory, passable)
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
  // All nodes are this machine: a directory is as near to one as to another.
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
