/** Lets deleted volumes go when no claim is bound to them any more: they carry a finalizer from the start (StorageObjectInUseProtection). */
import { type Controller, watched } from '../../../client/controller/controller.ts'
import { persistentVolumes as volumes } from '../../../client/kinds.ts'
import { withoutFinalizer } from '../../../client/objects/finalizers.ts'
import { unlessGone } from '../../refusals.ts'

const finalizer = 'kubernetes.io/pv-protection'

export const volumeProtection: Controller = {
  name: 'persistentvolume-protection-controller',
  watches: [watched({ resource: volumes })],
  async reconcile(name, { client, caches }) {
    const volume = caches.get(volumes, '', name)
    if (!volume?.metadata.deletionTimestamp || volume.status?.phase === 'Bound' || !volume.metadata.finalizers?.includes(finalizer)) return
    await client.update(volumes, withoutFinalizer(volume, finalizer)).catch(unlessGone)
  },
}
