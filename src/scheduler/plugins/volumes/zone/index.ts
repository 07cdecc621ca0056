/** VolumeZone: a pod must run in the zones and regions of its volumes' labels. */

import { claimClass } from '../../../../api/core/storage/binding/storage-class.ts'
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from '../../../../client/kinds.ts'
import { own } from '../../../../lib/own.ts'
import {
  type Handle,
  on,
  type Plugin,
  type PodInfo,
  pluginFactory,
  type Status,
  skip,
  unresolvable,
} from '../../../framework/index.ts'
import { usesClaim, zonesOf } from '../pod-volumes.ts'

/** A label key and the values that satisfy the volume. */
interface Place {
  readonly key: string
  readonly values: ReadonlySet<string>
}

const today: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
}
const keys = [...Object.keys(today), ...Object.values(today)]

const wrongZone = unresolvable('node(s) had no available volume zone')

export const volumeZone = pluginFactory({ name: 'VolumeZone', make })

function make(_: undefined, handle: Handle): Plugin<readonly Place[]> {
  const claims = handle.lister(persistentVolumeClaims)
  const volumes = handle.lister(persistentVolumes)
  const classes = handle.lister(storageClasses)

  return {
    events: [
      on('StorageClass', ['Add'], (pod, _before, after) =>
        [...claimsOfPod(pod)].some(
          (claim) => !claim?.spec?.volumeName && claim && claimClass(claim) === after?.metadata.name,
        ),
      ),
      on('Node', ['Add', 'UpdateLabel']),
      on(
        'PersistentVolumeClaim',
        ['Add', 'Update'],
        (pod, before, after) => usesClaim(pod, after) && before?.spec?.volumeName !== after?.spec?.volumeName,
      ),
      on(
        'PersistentVolume',
        ['Add', 'Update'],
        (_pod, before, after) => !before || textOf(placesOf(before)) !== textOf(placesOf(after)),
      ),
    ],

    preFilter(pod) {
      const places: Place[] = []
      for (const [name, claim] of namedClaims(pod)) {
        if (!claim) return unresolvable(`persistentvolumeclaim "${name}" not found`)
        const volumeName = claim.spec?.volumeName
        if (volumeName) {
          const volume = volumes.get('', volumeName)
          if (!volume) return unresolvable(`persistentvolume "${volumeName}" not found`)
          places.push(...placesOf(volume))
        } else {
          const fault = unboundFault(claim)
          if (fault) return fault
        }
      }
      return places.length === 0 ? skip : { state: places }
    },

    filter(places, _pod, { labels }) {
      // A node without zone labels is taken to be in a cluster without zones.
      if (!keys.some((key) => labels[key] !== undefined)) return undefined
      return places.every(({ key, values }) => values.has(own(labels, key) ?? own(labels, today[key] ?? key) ?? ''))
        ? undefined
        : wrongZone
    },
  }

  function* namedClaims({ namespace, pod }: PodInfo): Generator<[string, PersistentVolumeClaim | undefined]> {
    for (const { persistentVolumeClaim } of pod.spec?.volumes ?? [])
      if (persistentVolumeClaim)
        yield [persistentVolumeClaim.claimName, claims.get(namespace, persistentVolumeClaim.claimName)]
  }

  function* claimsOfPod(pod: PodInfo): Generator<PersistentVolumeClaim | undefined> {
    for (const [, claim] of namedClaims(pod)) yield claim
  }

  /** A volume with delayed binding is chosen for the node, so it has no zone yet. */
  function unboundFault(claim: PersistentVolumeClaim): Status | undefined {
    const name = claimClass(claim)
    if (!name) return unresolvable('PersistentVolumeClaim had no pv name and storageClass name')
    const found = classes.get('', name)
    if (!found) return unresolvable(`storageclass.storage.k8s.io "${name}" not found`)
    if (!found.volumeBindingMode) return unresolvable(`VolumeBindingMode not set for StorageClass "${name}"`)
    return found.volumeBindingMode === 'WaitForFirstConsumer' ? undefined : unresolvable('PersistentVolume had no name')
  }
}

function placesOf(volume: PersistentVolume | undefined): Place[] {
  return keys.flatMap((key) => {
    const value = volume?.metadata.labels?.[key]
    return value === undefined ? [] : [{ key, values: zonesOf(value) }]
  })
}

const textOf = (places: readonly Place[]): string => JSON.stringify(places.map(({ key, values }) => [key, ...values]))
