/** Expands volumes to the size of their claims: host paths directly, others through an external controller. */

import { provisionedBy } from '../../../api/core/storage/binding/annotations.ts'
import { type Controller, watch } from '../../../client/controller/controller.ts'
import {
  persistentVolumeClaims as claims,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { compareQuantities } from '../../../machinery/values/quantity.ts'
import { hostPathProvisioner } from '../binder/provision/host-path.ts'

export interface Growth {
  readonly to: string
  /** True if only the objects must be updated (host path). */
  readonly isLocal: boolean
}

/** The requested expansion of a bound claim; undefined if none. Checks that the volume references the claim. */
export function growthOf(
  { metadata, spec, status }: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Growth | undefined {
  const requested = spec?.resources?.requests?.storage
  const capacity = status?.capacity?.storage
  if (status?.phase !== 'Bound' || !requested || !capacity || compareQuantities(requested, capacity) <= 0)
    return undefined
  if (!volume || volume.spec?.claimRef?.uid !== metadata.uid) return undefined
  return { to: requested, isLocal: volume.metadata.annotations?.[provisionedBy] === hostPathProvisioner }
}

export const volumeExpander = (): Controller => {
  /** Sizes for which an ExternalExpanding event was recorded, by claim key. */
  const announced = new Map<string, string>()
  return {
    name: 'persistentvolume-expander-controller',
    component: 'volume_expand',
    watches: [
      watch({ resource: claims }),
      watch({
        resource: volumes,
        keys: ({ spec }) => (spec?.claimRef?.uid ? [`${spec.claimRef.namespace}/${spec.claimRef.name}`] : []),
      }),
    ],
    async reconcile(key, { client, caches, events }) {
      const [namespace = '', name = ''] = key.split('/')
      const claim = caches.get(claims, namespace, name)
      const volume = claim?.spec?.volumeName ? caches.get(volumes, '', claim.spec.volumeName) : undefined
      const growth = claim && growthOf(claim, volume)
      if (!claim || !growth) {
        announced.delete(key)
        return
      }
      const { to, isLocal } = growth
      if (!isLocal || !volume) {
        if (announced.get(key) !== to)
          events.record(claim, 'Normal', 'ExternalExpanding', 'waiting for an external controller to expand this PVC')
        announced.set(key, to)
        return
      }
      if (compareQuantities(volume.spec?.capacity?.storage ?? '0', to) < 0)
        await client.patch(volumes, '', volume.metadata.name ?? '', { spec: { capacity: { storage: to } } }, 'merge')
      await client.patch(claims, namespace, name, { status: { capacity: { storage: to } } }, 'merge', 'status')
      events.record(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded')
    },
  }
}
