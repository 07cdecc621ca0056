/** Finds the volumes to attach to a node: those of its pods whose CSI driver requires attachment. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../client/kinds.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'
import { hasEnded } from '../../pods/phase.ts'
import { claimNameOf } from '../pod-claims.ts'

/** A volume of a pod that a driver must attach. */
export interface DesiredVolume {
  readonly volume: PersistentVolume
  readonly driver: string
  readonly handle: string
  /** The pods on the node that use it. */
  readonly pods: readonly Pod[]
}

/** Look-ups of claims, volumes and drivers. */
export interface VolumeSources {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  /** False only if the driver's attachRequired is false. */
  attaches(driver: string): boolean
}

/** Yields the volumes of a pod's bound claims. */
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

/** Returns desired volumes by name. Ended pods need none. */
export function desiredVolumes(pods: Iterable<Pod>, sources: VolumeSources): ReadonlyMap<string, DesiredVolume> {
  const desired = new Map<string, DesiredVolume>()
  for (const pod of pods) {
    if (hasEnded(pod)) continue
    for (const volume of volumesOfPod(pod, sources)) {
      const { driver, volumeHandle: handle } = volume.spec?.csi ?? {}
      if (!driver || !handle || !sources.attaches(driver)) continue
      const name = volume.metadata.name ?? ''
      desired.set(name, { volume, driver, handle, pods: [...(desired.get(name)?.pods ?? []), pod] })
    }
  }
  return desired
}

const shared = new Set(['ReadWriteMany', 'ReadOnlyMany'])

/** Returns true if a volume may be attached to several nodes. */
export const isShareable = ({ spec }: PersistentVolume): boolean =>
  spec?.accessModes?.some((mode) => shared.has(mode)) ?? false
