/** Holds VolumeAttributesClasses with a finalizer until no claim or volume references them (KEP-3751). */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import {
  persistentVolumeClaims as claims,
  volumeAttributesClasses as classes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { withFinalizer, withoutFinalizer } from '../../../client/objects/finalizers.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { lacksFinalizer } from './finalizer.ts'

const finalizer = 'kubernetes.io/vac-protection'

/** Index function: the requested, current and target classes of a claim. */
function classesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return names.filter((name) => name !== undefined)
}

const classesOfVolume = ({ spec }: PersistentVolume): readonly string[] =>
  spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : []

export const attributesClassProtection: Controller = {
  name: 'volumeattributesclass-protection-controller',
  watches: [
    watch({ resource: classes }),
    watch({ resource: claims, keys: classesOfClaim }),
    watch({ resource: volumes, keys: classesOfVolume }),
  ],
  async reconcile(name, { client, caches }) {
    const found = caches.get(classes, '', name)
    if (found && lacksFinalizer(found, finalizer))
      return void (await client.update(classes, withFinalizer(found, finalizer)).catch(ignoreNotFound))
    if (!found?.metadata.deletionTimestamp || !found.metadata.finalizers?.includes(finalizer)) return
    for (const _ of caches.by(claims, classesOfClaim, name)) return
    for (const _ of caches.by(volumes, classesOfVolume, name)) return
    await client.update(classes, withoutFinalizer(found, finalizer)).catch(ignoreNotFound)
  },
}
