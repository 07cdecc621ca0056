/** Gets a volume for a claim that none of those there suits: makes it, or asks the provisioner of its class for it. */

import { migratedTo, storageProvisioner, withAnnotations } from '../../../../api/core/storage/binding/annotations.ts'
import type { ReconcileContext } from '../../../../client/controller/controller.ts'
import {
  type PersistentVolumeClaim,
  type StorageClass,
  persistentVolumes as volumes,
} from '../../../../client/kinds.ts'
import { isAlreadyExists, isConflict, messageOf } from '../../../refusals.ts'
import type { Told } from '../claim-plan.ts'
import type { BinderWrites } from '../writes.ts'
import { type HostPathOptions, hostPathProvisioner, makeHostPath } from './host-path.ts'
import { provisionerOf } from './provisioners.ts'

/** What the claim is told when it has to wait, or what was made for it. */
export async function provision(
  claim: PersistentVolumeClaim,
  className: string,
  storageClass: StorageClass | undefined,
  hostPath: HostPathOptions,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<Told> {
  if (!storageClass) return failed(`storageclass.storage.k8s.io "${className}" not found`)
  const provisioner = provisionerOf(storageClass, hostPath)
  switch (provisioner.is) {
    case 'none':
      return failed(provisioner.why)
    case 'external': {
      const { name, driver } = provisioner
      await askedOf(claim, name, driver, writes, context)
      return {
        type: 'Normal',
        reason: 'ExternalProvisioning',
        message:
          `Waiting for a volume to be created either by the external provisioner '${driver}' or manually by the ` +
          'system administrator. If volume creation is delayed, please verify that the provisioner is running and ' +
          'correctly registered.',
      }
    }
    case 'host path':
      return makeVolume(claim, storageClass, hostPath, writes, context)
  }
}

const failed = (message: string): Told => ({ type: 'Warning', reason: 'ProvisioningFailed', message })

/** The claim that says who makes its volume; `name` is what its class calls `driver`. */
async function askedOf(
  claim: PersistentVolumeClaim,
  name: string,
  driver: string,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<PersistentVolumeClaim> {
  if (storageProvisioner.every((annotation) => claim.metadata.annotations?.[annotation] === driver)) return claim
  const asked = Object.fromEntries(storageProvisioner.map((annotation) => [annotation, driver]))
  return writes.claim(withAnnotations(claim, { ...asked, ...(name !== driver && { [migratedTo]: driver }) }), context)
}

async function makeVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  hostPath: HostPathOptions,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<Told> {
  try {
    const volume = await makeHostPath(
      await askedOf(claim, hostPathProvisioner, hostPathProvisioner, writes, context),
      storageClass,
      hostPath,
    )
    // It may have been made before, and not be known yet.
    const made = await context.client.create(volumes, volume).catch((error: unknown) => {
      if (isAlreadyExists(error)) return context.client.get(volumes, '', volume.metadata.name ?? '')
      throw error
    })
    writes.made(made)
    return {
      type: 'Normal',
      reason: 'ProvisioningSucceeded',
      message: `Successfully provisioned volume ${made.metadata.name} using ${hostPathProvisioner}`,
    }
  } catch (error) {
    if (isConflict(error)) throw error
    return failed(`Failed to provision volume with StorageClass "${storageClass.metadata.name}": ${messageOf(error)}`)
  }
}
