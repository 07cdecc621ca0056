/** VolumeZone: a pod must run in the zones and regions of its volumes' labels. */

import { claimClass } from '../../../../api/core/storage/binding/storage-class.ts'
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  type StorageClass,
  storageClasses,
} from '../../../../client/kinds.ts'
import { own } from '../../../../lib/own.ts'
import {
  type EventRegistration,
  type Handle,
  type Lister,
  type NodeInfo,
  on,
  type Plugin,
  type PodInfo,
  type PreFiltered,
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

/** The current keys of deprecated labels. */
const currentKeys: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
}
const keys = [...Object.keys(currentKeys), ...Object.values(currentKeys)]

const wrongZone = unresolvable('node(s) had no available volume zone')

export const volumeZone = pluginFactory({ name: 'VolumeZone', make: (_args, handle) => new VolumeZone(handle) })

class VolumeZone implements Plugin<readonly Place[]> {
  readonly events: readonly EventRegistration[] = [
    on('StorageClass', ['Add'], (pod, _before, after) => this.#waitsForClass(pod, after)),
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
  ]
  readonly #claims: Lister<PersistentVolumeClaim>
  readonly #volumes: Lister<PersistentVolume>
  readonly #classes: Lister<StorageClass>

  constructor(handle: Handle) {
    this.#claims = handle.lister(persistentVolumeClaims)
    this.#volumes = handle.lister(persistentVolumes)
    this.#classes = handle.lister(storageClasses)
  }

  preFilter(pod: PodInfo): PreFiltered<readonly Place[]> | Status {
    const places: Place[] = []
    for (const [name, claim] of this.#claimsOf(pod)) {
      if (!claim) return unresolvable(`persistentvolumeclaim "${name}" not found`)
      const volumeName = claim.spec?.volumeName
      if (volumeName) {
        const volume = this.#volumes.get('', volumeName)
        if (!volume) return unresolvable(`persistentvolume "${volumeName}" not found`)
        places.push(...placesOf(volume))
      } else {
        const fault = this.#unboundFault(claim)
        if (fault) return fault
      }
    }
    return places.length === 0 ? skip : { state: places }
  }

  filter(places: readonly Place[], _pod: PodInfo, { labels }: NodeInfo): Status | undefined {
    // A node without zone labels is taken to be in a cluster without zones.
    if (!keys.some((key) => labels[key] !== undefined)) return undefined
    return places.every(({ key, values }) => values.has(own(labels, key) ?? own(labels, currentKeys[key] ?? key) ?? ''))
      ? undefined
      : wrongZone
  }

  /** Returns true if an unbound claim of the pod has the class. */
  #waitsForClass(pod: PodInfo, storageClass: StorageClass | undefined): boolean {
    return [...this.#claimsOf(pod)].some(
      ([, claim]) => claim && !claim.spec?.volumeName && claimClass(claim) === storageClass?.metadata.name,
    )
  }

  /** The claims of the pod by name; undefined if it does not exist. */
  *#claimsOf({ namespace, pod }: PodInfo): Generator<[string, PersistentVolumeClaim | undefined]> {
    for (const { persistentVolumeClaim } of pod.spec?.volumes ?? [])
      if (persistentVolumeClaim)
        yield [persistentVolumeClaim.claimName, this.#claims.get(namespace, persistentVolumeClaim.claimName)]
  }

  /** A volume with delayed binding is chosen for the node, so it has no zone yet. */
  #unboundFault(claim: PersistentVolumeClaim): Status | undefined {
    const name = claimClass(claim)
    if (!name) return unresolvable('PersistentVolumeClaim had no pv name and storageClass name')
    const storageClass = this.#classes.get('', name)
    if (!storageClass) return unresolvable(`storageclass.storage.k8s.io "${name}" not found`)
    const { volumeBindingMode } = storageClass
    if (!volumeBindingMode) return unresolvable(`VolumeBindingMode not set for StorageClass "${name}"`)
    return volumeBindingMode === 'WaitForFirstConsumer' ? undefined : unresolvable('PersistentVolume had no name')
  }
}

function placesOf(volume: PersistentVolume | undefined): Place[] {
  return keys.flatMap((key) => {
    const value = volume?.metadata.labels?.[key]
    return value === undefined ? [] : [{ key, values: zonesOf(value) }]
  })
}

const textOf = (places: readonly Place[]): string => JSON.stringify(places.map(({ key, values }) => [key, ...values]))
