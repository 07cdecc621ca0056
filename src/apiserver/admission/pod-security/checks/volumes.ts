/** The check of volumes: only types without access to files of the node or of other pods. */
import { type Check, type CheckPod, plural, quoted, sortedSet } from './check.ts'

const allowed = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const

const restricted = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const

const restrictedVolumes: CheckPod = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !allowed.some((kind) => volume[kind]))
  if (bad.length === 0) return undefined
  const kinds = sortedSet(bad.map((volume) => restricted.find((kind) => volume[kind]) ?? 'unknown'))
  const names = quoted(bad.map(({ name }) => name))
  return {
    reason: 'restricted volume types',
    detail:
      `${plural(bad.length, 'volume')} ${names} ${plural(bad.length, 'uses', 'use')} ` +
      `${plural(kinds.length, 'restricted volume type')} ${quoted(kinds)}`,
  }
}

export const volumeChecks: readonly Check[] = [
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    overrides: ['hostPathVolumes'],
    revisions: [{ since: 0, check: restrictedVolumes }],
  },
]
