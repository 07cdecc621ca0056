/** Provisions a volume for a claim: creates it, or requests it from the external provisioner of its class. */

import { migratedTo, storageProvisioner, withAnnotations } from '../../../../api/core/storage/binding/annotations.ts'
import type { ReconcileContext } from '../../../../client/controller/controller.ts'
import {
  type PersistentVolumeClaim,
  type StorageClass,
  persistentVolumes as volumes,
} from '../../../../client/kinds.ts'
import { isAlreadyExists, isConflict, messageOf } from '../../../api-errors.ts'
import type { PlannedEvent } from '../decisions/claim-plan.ts'
import type { BinderWrites } from '../writes.ts'
import { createHostPath, type HostPathOptions, hostPathProvisioner } from './host-path.ts'
import { provisionerOf } from './provisioners.ts'

/** Provisions a volume; resolves with the event to record on the claim. */
export async function provision(
  claim: PersistentVolumeClaim,
  className: string,
  storageClass: StorageClass | undefined,
  hostPath: HostPathOptions,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<PlannedEvent> {
  if (!storageClass) return failed(`storageclass.storage.k8s.io "${className}" not found`)
  const provisioner = provisionerOf(storageClass, hostPath)
  switch (provisioner.is) {
    case 'none':
      return failed(provisioner.why)
    case 'external': {
      const { name, driver } = provisioner
      await requestProvisioning(claim, name, driver, writes, context)
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
      return createVolume(claim, storageClass, hostPath, writes, context)
  }
}

const failed = (message: string): PlannedEvent => ({ type: 'Warning', reason: 'ProvisioningFailed', message })

/** Annotates the claim with its provisioner. `name` is the class's name of `driver`. */
async function requestProvisioning(
  claim: PersistentVolumeClaim,
  name: string,
  driver: string,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<PersistentVolumeClaim> {
  if (storageProvisioner.every((annotation) => claim.metadata.annotations?.[annotation] === driver)) return claim
  const annotations = Object.fromEntries(storageProvisioner.map((annotation) => [annotation, driver]))
  return writes.claim(
    withAnnotations(claim, { ...annotations, ...(name !== driver && { [migratedTo]: driver }) }),
    context,
  )
}

async function createVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  hostPath: HostPathOptions,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<PlannedEvent> {
  try {
    const volume = await createHostPath(
      await requestProvisioning(claim, hostPathProvisioner, hostPathProvisioner, writes, context),
      storageClass,
      hostPath,
    )
    // It may have been created earlier and not be in the cache yet.
    const created = await context.client.create(volumes, volume).catch((error: unknown) => {
      if (isAlreadyExists(error)) return context.client.get(volumes, '', volume.metadata.name ?? '')
      throw error
    })
    writes.recordCreation(created)
    return {
      type: 'Normal',
      reason: 'ProvisioningSucceeded',
      message: `Successfully provisioned volume ${created.metadata.name} using ${hostPathProvisioner}`,
    }
  } catch (error) {
    if (isConflict(error)) throw error
    return failed(`Failed to provision volume with StorageClass "${storageClass.metadata.name}": ${messageOf(error)}`)
  }
}
