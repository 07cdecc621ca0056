/**
 * Lets deleted VolumeAttributesClasses go when no claim and no volume names them any more (KEP-3751): all carry a
 * finalizer.
 */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import {
  persistentVolumeClaims as claims,
  volumeAttributesClasses as classes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { withFinalizer, withoutFinalizer } from '../../../client/objects/finalizers.ts'
import { unlessGone } from '../../refusals.ts'
import { lacksFinalizer } from './lacks-finalizer.ts'

const finalizer = 'kubernetes.io/vac-protection'

/** What a claim asks for, what it has, and what it is getting. */
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
      return void (await client.update(classes, withFinalizer(found, finalizer)).catch(unlessGone))
    if (!found?.metadata.deletionTimestamp || !found.metadata.finalizers?.includes(finalizer)) return
    for (const _ of caches.by(claims, classesOfClaim, name)) return
    for (const _ of caches.by(volumes, classesOfVolume, name)) return
    await client.update(classes, withoutFinalizer(found, finalizer)).catch(unlessGone)
  },
}
