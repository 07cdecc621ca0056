/** Holds volumes with a finalizer until no claim is bound to them (StorageObjectInUseProtection). */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { persistentVolumes as volumes } from '../../../client/kinds.ts'
import { withFinalizer, withoutFinalizer } from '../../../client/objects/finalizers.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { lacksFinalizer } from './finalizer.ts'

const finalizer = 'kubernetes.io/pv-protection'

export const volumeProtection: Controller = {
  name: 'persistentvolume-protection-controller',
  watches: [watch({ resource: volumes })],
  async reconcile(name, { client, caches }) {
    const volume = caches.get(volumes, '', name)
    if (volume && lacksFinalizer(volume, finalizer))
      return void (await client.update(volumes, withFinalizer(volume, finalizer)).catch(ignoreNotFound))
    if (
      !volume?.metadata.deletionTimestamp ||
      volume.status?.phase === 'Bound' ||
      !volume.metadata.finalizers?.includes(finalizer)
    )
      return
    await client.update(volumes, withoutFinalizer(volume, finalizer)).catch(ignoreNotFound)
  },
}
