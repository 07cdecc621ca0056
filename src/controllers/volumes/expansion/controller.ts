/** Lets volumes grow with what their claims ask for: directories at once, all others by who drives them. */

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
  /** Nobody has to do anything for it but say so. */
  readonly isAtHand: boolean
}

/** How a bound claim wants to grow; undefined where it does not. Only its own volume may. */
export function growthOf(
  { metadata, spec, status }: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Growth | undefined {
  const asked = spec?.resources?.requests?.storage
  const has = status?.capacity?.storage
  if (status?.phase !== 'Bound' || !asked || !has || compareQuantities(asked, has) <= 0) return undefined
  if (!volume || volume.spec?.claimRef?.uid !== metadata.uid) return undefined
  return { to: asked, isAtHand: volume.metadata.annotations?.[provisionedBy] === hostPathProvisioner }
}

export const volumeExpander = (): Controller => {
  /** The sizes that were told to wait for somebody else, by the claim's key. */
  const told = new Map<string, string>()
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
        told.delete(key)
        return
      }
      const { to, isAtHand } = growth
      if (!isAtHand || !volume) {
        if (told.get(key) !== to)
          events.record(claim, 'Normal', 'ExternalExpanding', 'waiting for an external controller to expand this PVC')
        told.set(key, to)
        return
      }
      if (compareQuantities(volume.spec?.capacity?.storage ?? '0', to) < 0)
        await client.patch(volumes, '', volume.metadata.name ?? '', { spec: { capacity: { storage: to } } }, 'merge')
      await client.patch(claims, namespace, name, { status: { capacity: { storage: to } } }, 'merge', 'status')
      events.record(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded')
    },
  }
}
