/** Which volumes have to be attached to a node: those of CSI drivers that attach, of the pods there. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../client/kinds.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { hasEnded } from '../../pods/phase.ts'
import { claimNameOf } from '../pod-claims.ts'

/** A volume of a pod that a driver attaches. */
export interface WantedVolume {
  readonly volume: PersistentVolume
  readonly driver: string
  readonly handle: string
  /** Those on the node that use it. */
  readonly pods: readonly Pod[]
}

/** What is known of claims, volumes and drivers. */
export interface VolumeSources {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  /** False only where the driver says so. */
  attaches(driver: string): boolean
}

/** The volume behind each claim of a pod that is bound. */
export function* volumesOfPod(pod: Pod, sources: VolumeSources): Generator<PersistentVolume> {
  const namespace = pod.metadata.namespace ?? ''
  for (const source of pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, source)
    const claim = name === undefined ? undefined : sources.claim(namespace, name)
    if (!claim?.spec?.volumeName || claim.status?.phase !== 'Bound') continue
    if (source.ephemeral && !isControlledBy(claim, pod)) continue
    const volume = sources.volume(claim.spec.volumeName)
    if (volume?.spec?.claimRef?.uid === claim.metadata.uid && volume) yield volume
  }
}

/** By the volume's name. Pods that have ended want nothing. */
export function wantedVolumes(pods: Iterable<Pod>, sources: VolumeSources): ReadonlyMap<string, WantedVolume> {
  const wanted = new Map<string, WantedVolume>()
  for (const pod of pods) {
    if (hasEnded(pod)) continue
    for (const volume of volumesOfPod(pod, sources)) {
      const { driver, volumeHandle: handle } = volume.spec?.csi ?? {}
      if (!driver || !handle || !sources.attaches(driver)) continue
      const name = volume.metadata.name ?? ''
      wanted.set(name, { volume, driver, handle, pods: [...(wanted.get(name)?.pods ?? []), pod] })
    }
  }
  return wanted
}

const shared = new Set(['ReadWriteMany', 'ReadOnlyMany'])

/** Whether a volume may be attached to several nodes at once. */
export const isShareable = ({ spec }: PersistentVolume): boolean =>
  spec?.accessModes?.some((mode) => shared.has(mode)) ?? false
