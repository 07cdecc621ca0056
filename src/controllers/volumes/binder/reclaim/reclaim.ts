/** What becomes of a volume whose claim is gone: it stays, goes, or is emptied for the next one. */

import { deletionFinalizer, migratedTo, provisionedBy } from '../../../../api/core/storage/binding/annotations.ts'
import type { ReconcileContext } from '../../../../client/controller/controller.ts'
import { type PersistentVolume, persistentVolumes as volumes } from '../../../../client/kinds.ts'
import { withoutFinalizer } from '../../../../client/objects/finalizers.ts'
import { messageOf, unlessGone } from '../../../refusals.ts'
import { type HostPathOptions, hostPathProvisioner, removeHostPath } from '../provision/host-path.ts'
import type { BinderWrites } from '../writes.ts'
import { recycle } from './recycle.ts'

/** Resolves with whether it is worth trying again later. */
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
    if (isElsewhere(volume)) return false
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
  // Released from its finalizer before it is deleted: it would not go otherwise.
  if (finalizers?.includes(deletionFinalizer))
    await writes.volume(withoutFinalizer(volume, deletionFinalizer), context).catch(unlessGone)
  await context.client.delete(volumes, '', name, { uid }).catch(unlessGone)
  return false
}

/** Whoever made it outside deletes it. */
function isElsewhere({ metadata: { annotations = {} } }: PersistentVolume): boolean {
  const maker = annotations[provisionedBy]
  return (
    annotations[migratedTo] !== undefined ||
    (maker !== undefined && maker !== hostPathProvisioner && !maker.startsWith('kubernetes.io/'))
  )
}

/** CSI volumes are none of the plug-ins that are in here. */
const noPlugin = ({ spec }: PersistentVolume): string =>
  spec?.csi ? 'no volume plugin matched' : 'no deletable volume plugin matched'
