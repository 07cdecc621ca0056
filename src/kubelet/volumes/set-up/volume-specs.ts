/** The volumes of a pod that have to be set up. */
import { allContainers, type Pod, specOf } from '../../pod-types.ts'
import type { VolumeObjects } from '../objects/volume-objects.ts'
import type { Volume, VolumeSpec } from '../volume-plugin.ts'
import { boundVolume, claimOf } from './claims.ts'

/** The volumes that a container mounts or uses as a device. Others are not set up. */
export function usedVolumes(pod: Pod): readonly Volume[] {
  const used = new Set([...mountedNames(pod), ...deviceNames(pod)])
  return (specOf(pod).volumes ?? []).filter(({ name }) => used.has(name))
}

/** Resolves a claim. Rejects with upstream's message if it is not bound, or not fit for its use. */
export async function volumeSpec(
  pod: Pod,
  volume: Volume,
  objects: Pick<VolumeObjects, 'claim' | 'persistentVolume'>,
): Promise<VolumeSpec> {
  const { name } = volume
  const claim = claimOf(pod, volume)
  if (!claim) return { podName: name, name, volume, isReadOnly: false }
  const persistentVolume = await boundVolume(pod, claim, objects)
  const { volumeMode = 'Filesystem' } = persistentVolume.spec ?? {}
  if (volumeMode !== 'Filesystem' && mountedNames(pod).has(name))
    throw new Error(`volume ${name} has volumeMode ${volumeMode}, but is specified in volumeMounts`)
  if (volumeMode !== 'Block' && deviceNames(pod).has(name))
    throw new Error(`volume ${name} has volumeMode ${volumeMode}, but is specified in volumeDevices`)
  return {
    podName: name,
    name: persistentVolume.metadata.name ?? '',
    persistentVolume,
    isReadOnly: claim.isReadOnly,
  }
}

const mountedNames = (pod: Pod): Set<string> =>
  new Set(allContainers(pod).flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)))

const deviceNames = (pod: Pod): Set<string> =>
  new Set(allContainers(pod).flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name)))
