/** PersistentVolumes: storage with a lifetime independent of pods. */

import type { V1PersistentVolume } from '@kubernetes/client-node'
import { own } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model, Wire } from '../../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../machinery/validation/field-rules.ts'
import { list, pointer } from '../../../machinery/validation/internal-type.ts'
import { isFeatureOn } from '../../features/current.ts'
import { accessModesText } from '../../printing/access-modes.ts'
import { age, column, name, resource, wide } from '../../resource.ts'
import { nodeSelectorTermWarnings } from '../cluster/node-labels.ts'
import { nodeTermShape } from '../node-term-shape.ts'
import { azureDiskDefaults, rbdDefaults, scaleIODefaults } from '../pod/defaults/volume-defaults.ts'
import { resourceListDefaults } from '../quota/resource-list.ts'
import { classAnnotation } from './binding/storage-class.ts'
import { classAnnotationWarnings } from './claim-warnings.ts'
import { sources, type VolumeSpec, volumeSpec } from './volume-spec.ts'

type Volume = Model<V1PersistentVolume>

function volumeDefaults(volume: Volume): void {
  volume.spec ??= {}
  const spec = volume.spec
  volume.status ??= {}
  const status = volume.status
  status.phase ||= 'Pending'
  spec.persistentVolumeReclaimPolicy ||= 'Retain'
  spec.volumeMode ??= 'Filesystem'
  resourceListDefaults(spec.capacity)
  if (spec.hostPath) spec.hostPath.type ??= ''
  if (spec.iscsi) spec.iscsi.iscsiInterface ||= 'default'
  if (spec.rbd) rbdDefaults(spec.rbd)
  // Go encodes it without omitempty.
  if (spec.azureFile) spec.azureFile.secretNamespace ??= null as never
  if (spec.scaleIO) scaleIODefaults(spec.scaleIO)
  if (spec.azureDisk) azureDiskDefaults(spec.azureDisk)
}

/** Removed types, with upstream's path and message. */
const removedTypes = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const satisfies readonly (readonly [type: keyof VolumeSpec, name: string, message: string])[]
const mountOptions = 'volume.beta.kubernetes.io/mount-options'

function warnings({ metadata, spec = {} }: Volume): readonly string[] {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  return [
    ...classAnnotationWarnings(metadata),
    ...(metadata.annotations?.[mountOptions] === undefined
      ? []
      : [`metadata.annotations[${mountOptions}]: deprecated since v1.31; use "mountOptions" attribute instead`]),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the ' +
            'recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...terms.flatMap((term, i) => nodeSelectorTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`)),
    ...removedTypes.filter(([type]) => spec[type]).map(([, name, message]) => `spec.${name}: ${message}`),
  ]
}

const rules = ({ metadata, spec = {} }: Volume): readonly FieldError[] => volumeSpec(spec, metadata.name ?? '', 'spec')

const sourceOf = (spec: VolumeSpec): Partial<VolumeSpec> =>
  Object.fromEntries(sources.map((type) => [type, spec[type]]))

/** Allows to add controllerExpandSecretRef later. */
const withoutNewSecret = (spec: VolumeSpec, old: VolumeSpec): VolumeSpec =>
  spec.csi && old.csi && !old.csi.controllerExpandSecretRef
    ? { ...spec, csi: { ...spec.csi, controllerExpandSecretRef: undefined } }
    : spec

const newerLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/** Returns true if the affinity is equal, or differs only by GA labels in place of beta labels. */
function isSameAffinity(affinity: VolumeSpec['nodeAffinity'], old: NonNullable<VolumeSpec['nodeAffinity']>): boolean {
  const terms = affinity?.required?.nodeSelectorTerms
  if (!terms || !old.required) return semanticallyEqual(affinity, old)
  const renamed = old.required.nodeSelectorTerms.map((term, i) => ({
    ...term,
    matchExpressions: term.matchExpressions?.map((expression, j) => {
      const key = terms[i]?.matchExpressions?.[j]?.key
      return key !== undefined && key === own(newerLabels, expression.key) ? { ...expression, key } : expression
    }),
  }))
  return semanticallyEqual(affinity, { ...old, required: { ...old.required, nodeSelectorTerms: renamed } })
}

const shownAffinity = pointer({ Required: pointer({ NodeSelectorTerms: list(nodeTermShape) }) })

/** Validates an update: source and volumeMode are immutable. */
function update({ spec = {} }: Volume, { spec: old = {} }: Volume): readonly FieldError[] {
  return all(
    semanticallyEqual(sourceOf(withoutNewSecret(spec, old)), sourceOf(old))
      ? valid
      : [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation\n')],
    spec.volumeMode === old.volumeMode ? valid : [invalidValue('volumeMode', spec.volumeMode, 'field is immutable')],
    old.nodeAffinity && !isFeatureOn('MutablePVNodeAffinity') && !isSameAffinity(spec.nodeAffinity, old.nodeAffinity)
      ? [
          invalidValue(
            'nodeAffinity',
            shownAffinity(spec.nodeAffinity),
            'field is immutable, except for updating from beta label to GA',
          ),
        ]
      : valid,
    old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined
      ? [forbiddenField('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : valid,
  )
}

/** Sets `status.lastPhaseTransitionTime` when the phase changes and the client sets no newer time (KEP-3762). */
function stampPhaseTransition(volume: Volume, old: Volume, now: string): void {
  const { status } = volume
  const { phase, lastPhaseTransitionTime: oldTime } = old.status ?? {}
  if (!status || status.phase === phase) return
  if (status.lastPhaseTransitionTime && status.lastPhaseTransitionTime !== oldTime) return
  status.lastPhaseTransitionTime = now
}

const claim = ({ spec }: Wire<V1PersistentVolume>): string =>
  spec?.claimRef ? `${spec.claimRef.namespace}/${spec.claimRef.name}` : ''

export const persistentVolumes = resource<Volume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  scope: 'Cluster',
  subresources: { status: true },
  defaults: [volumeDefaults],
  prepare: {
    create: (volume) => {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: volume.metadata.creationTimestamp }
    },
    status: stampPhaseTransition,
  },
  validate: { object: rules, update },
  warnings,
  selectableFields: { name: ({ metadata }) => metadata.name },
  columns: [
    name,
    column('Capacity', ({ spec }) => spec?.capacity?.storage ?? '0', { description: 'The size of the volume.' }),
    column('Access Modes', ({ spec }) => accessModesText(spec?.accessModes), {
      description: 'The access modes of the volume.',
    }),
    column('Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '', {
      description: 'What happens to the volume after its claim is deleted.',
    }),
    column('Status', ({ metadata, status }) => (metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')), {
      description: 'The phase: Available, Bound, Released or Failed.',
    }),
    column('Claim', claim, { description: 'The claim that the volume is bound to.' }),
    column(
      'StorageClass',
      ({ metadata, spec }) => metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '',
      {
        description: 'The StorageClass.',
      },
    ),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', {
      description: 'The VolumeAttributesClass.',
    }),
    column('Reason', ({ status }) => status?.reason ?? '', { description: 'The reason of the phase.' }),
    age,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', {
      description: 'The mode: Filesystem or Block.',
    }),
  ],
  deletion: { returnsObject: true },
})
