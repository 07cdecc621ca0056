/** Applies the reclaim policy of a released volume: Retain, Delete or Recycle. */

import { deletionFinalizer, migratedTo, provisionedBy } from '../../../../api/core/storage/binding/annotations.ts'
import type { ReconcileContext } from '../../../../client/controller/controller.ts'
import { type PersistentVolume, persistentVolumes as volumes } from '../../../../client/kinds.ts'
import { withoutFinalizer } from '../../../../client/objects/finalizers.ts'
import { ignoreNotFound, messageOf } from '../../../api-errors.ts'
import { type HostPathOptions, hostPathProvisioner, removeHostPath } from '../provision/host-path.ts'
import type { BinderWrites } from '../writes.ts'
import { recycle } from './recycle.ts'

/** Resolves with true if it failed and must be retried later. */
export async function reclaim(
  volume: PersistentVolume,
  hostPath: HostPathOptions,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<boolean> {
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Recycle':
      await recycle(volume, writes, context)
      return false
    case 'Delete':
      return remove(volume, hostPath, writes, context)
    default:
      return false
  }
}

async function remove(
  volume: PersistentVolume,
  hostPath: HostPathOptions,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<boolean> {
  const path = volume.spec?.hostPath?.path
  try {
    if (isProvisionedExternally(volume)) return false
    if (!path)
      throw new Error(`error getting deleter volume plugin for volume "${volume.metadata.name}": ${noPlugin(volume)}`)
    await removeHostPath(path, hostPath)
  } catch (error) {
    await writes.volumePhase(volume, 'Failed', context, {
      type: 'Warning',
      reason: 'VolumeFailedDelete',
      message: messageOf(error),
    })
    return true
  }
  const { name = '', uid, finalizers } = volume.metadata
  // The finalizer is removed first, as it would block the deletion.
  if (finalizers?.includes(deletionFinalizer))
    await writes.volume(withoutFinalizer(volume, deletionFinalizer), context).catch(ignoreNotFound)
  await context.client.delete(volumes, '', name, { uid }).catch(ignoreNotFound)
  return false
}

/** Returns true if an external provisioner created the volume and will delete it. */
function isProvisionedExternally({ metadata: { annotations = {} } }: PersistentVolume): boolean {
  const provisioner = annotations[provisionedBy]
  return (
    annotations[migratedTo] !== undefined ||
    (provisioner !== undefined && provisioner !== hostPathProvisioner && !provisioner.startsWith('kubernetes.io/'))
  )
}

/** Upstream's message: CSI volumes match no in-tree plug-in. */
const noPlugin = ({ spec }: PersistentVolume): string =>
  spec?.csi ? 'no volume plugin matched' : 'no deletable volume plugin matched'
