/** PersistentVolumes: storage that outlives pods. */
import { posix } from 'node:path'
import type { V1PersistentVolume } from '@kubernetes/client-node'
import { own } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model, Wire } from '../../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/validation/field-error.ts'
import { all, follows, oneOf, optionalText, requiredRule, requiredText, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'
import { signOf, wholeValue } from '../../../machinery/values/quantity.ts'
import { accessModesText } from '../../printing/access-modes.ts'
import { age, column, name, resource, wide } from '../../resource.ts'
import { nodeSelectorTermWarnings } from '../cluster/node-labels.ts'
import { azureDiskDefaults, rbdDefaults, scaleIODefaults } from '../pod/defaults/volume-defaults.ts'
import { nodeSelector } from '../pod/validation/scheduling.ts'
import { noBacksteps } from '../pod/validation/volumes/paths.ts'
import { vendorVolumes } from '../pod/validation/volumes/vendor-volumes.ts'
import { csiDriver, fc, hostPath, iscsi, longPortal, maxPortal, nfs } from '../pod/validation/volumes/volumes.ts'
import { resourceListDefaults } from '../quota/resource-list.ts'
import { classAnnotation } from './binding/storage-class.ts'
import { accessModes, volumeModes } from './claim-rules.ts'
import { classAnnotationWarnings } from './claim-warnings.ts'

type Volume = Model<V1PersistentVolume>
type VolumeSpec = NonNullable<Volume['spec']>

/** Types of volumes, in the order in which upstream looks at them. */
const sources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const satisfies readonly (keyof VolumeSpec)[]

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
  // Always on the wire.
  if (spec.azureFile) spec.azureFile.secretNamespace ??= null as never
  if (spec.scaleIO) scaleIODefaults(spec.scaleIO)
  if (spec.azureDisk) azureDiskDefaults(spec.azureDisk)
}

function sourceRules(type: (typeof sources)[number], spec: VolumeSpec, name: string): readonly FieldError[] {
  const path = `spec.${type}`
  switch (type) {
    case 'hostPath':
      return hostPath(spec.hostPath as { path: string }, path)
    case 'nfs':
      return nfs(spec.nfs as { server: string; path: string }, path)
    case 'iscsi':
      return iscsiVolume(spec.iscsi ?? { targetPortal: '', iqn: '', lun: 0 }, name, path)
    case 'fc':
      return fc(spec.fc as object, path)
    case 'csi':
      return all(
        csiDriver(spec.csi?.driver, `${path}.driver`),
        requiredText(spec.csi?.volumeHandle, `${path}.volumeHandle`),
        csiSecrets.flatMap((field) => {
          const secret = spec.csi?.[field]
          return secret
            ? all(requiredRule(secret.name, `${path}.${field}.name`, dnsSubdomain), requiredRule(secret.namespace, `${path}.${field}.namespace`, dnsLabel))
            : valid
        }),
      )
    case 'gcePersistentDisk':
      return vendorVolumes.gcePersistentDisk(spec.gcePersistentDisk ?? {}, 'spec.persistentDisk')
    case 'glusterfs':
      return all(
        vendorVolumes.glusterfs(spec.glusterfs ?? {}, path),
        spec.glusterfs?.endpointsNamespace === ''
          ? [invalidValue(`${path}.endpointsNamespace`, '', 'if the endpointnamespace is set, it must be a valid namespace name')]
          : follows(spec.glusterfs?.endpointsNamespace, `${path}.endpointsNamespace`, dnsLabel),
      )
    case 'azureFile':
      return all(vendorVolumes.azureFile(spec.azureFile ?? {}, path), spec.azureFile?.secretNamespace === '' ? [required(`${path}.secretNamespace`)] : valid)
    case 'local': {
      const where = spec.local?.path
      return all(
        where ? noBacksteps(where, `${path}.path`) : [required(`${path}.path`)],
        spec.nodeAffinity ? valid : [required('spec.nodeAffinity', 'Local volume requires node affinity')],
      )
    }
    case 'cinder':
      return all(vendorVolumes.cinder(spec.cinder ?? {}, path), secretNamespace(spec.cinder?.secretRef, path))
    case 'storageos':
      return all(vendorVolumes.storageos(spec.storageos ?? {}, path), secretNamespace(spec.storageos?.secretRef, path))
    default:
      return (vendorVolumes[type] as (source: unknown, path: string) => readonly FieldError[])(spec[type], path)
  }
}

/** A volume belongs to no namespace: its secret says where it is. */
const secretNamespace = (secret: { namespace?: string } | undefined, path: string): readonly FieldError[] =>
  secret ? requiredText(secret.namespace, `${path}.secretRef.namespace`) : valid

/** As in a pod; of a name that is wrong less is said, and a secret has a name. */
function iscsiVolume(source: NonNullable<VolumeSpec['iscsi']>, name: string, path: string): readonly FieldError[] {
  const { targetPortal, initiatorName, secretRef } = source
  return all(
    initiatorName !== undefined && `${name}:${targetPortal}`.length > maxPortal ? [invalidValue(`${path}.targetportal`, targetPortal, longPortal)] : valid,
    iscsi(source, path, 'must be valid format'),
    secretRef ? requiredText(secretRef.name, `${path}.secretRef.name`) : valid,
  )
}

/** The root of a node is nothing to empty. */
function recycledRoot({ hostPath: host, persistentVolumeReclaimPolicy: policy }: VolumeSpec): readonly FieldError[] {
  return host && policy === 'Recycle' && posix.normalize(host.path ?? '') === '/'
    ? [forbiddenField('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'")]
    : valid
}

/** Attributes are a matter of CSI drivers. */
function attributesClass({ volumeAttributesClassName: className, csi }: VolumeSpec): readonly FieldError[] {
  if (className === undefined) return valid
  const path = 'spec.volumeAttributesClassName'
  return all(
    className === '' ? [required(path, 'an empty string is disallowed')] : follows(className, path, dnsSubdomain),
    csi ? valid : [required('spec.csi', 'has to be specified when using volumeAttributesClassName')],
  )
}

/** Types that are gone: the name in the path and since when. */
const goneTypes = [
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
      ? ['spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.']
      : []),
    ...terms.flatMap((term, i) => nodeSelectorTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`)),
    ...goneTypes.filter(([type]) => spec[type]).map(([, name, message]) => `spec.${name}: ${message}`),
  ]
}

const csiSecrets = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const

function capacity(list: VolumeSpec['capacity']): readonly FieldError[] {
  const entries = Object.entries(list ?? {})
  const errors: FieldError[] = entries.length === 0 ? [required('spec.capacity')] : []
  if (list?.storage === undefined || entries.length > 1) errors.push(notSupported('spec.capacity', list ?? null, ['storage']))
  for (const [name, amount] of entries) {
    const path = `spec.capacity[${name}]`
    if (signOf(amount) < 0) errors.push(invalidValue(path, Number(wholeValue(amount)), 'must be a valid resource quantity'))
    if (signOf(amount) <= 0) errors.push(invalidValue(path, amount, 'must be greater than zero'))
  }
  return errors
}

function nodeAffinity({ nodeAffinity: affinity }: VolumeSpec): readonly FieldError[] {
  if (!affinity) return valid
  const path = 'spec.nodeAffinity.required'
  return affinity.required ? nodeSelector(affinity.required, path) : [required(path, 'must specify required node constraints')]
}

function rules({ metadata, spec = {} }: Volume): readonly FieldError[] {
  const given = sources.filter((type) => spec[type])
  return all(
    accessModes(spec.accessModes, 'spec.accessModes'),
    capacity(spec.capacity),
    oneOf(spec.persistentVolumeReclaimPolicy, 'spec.persistentVolumeReclaimPolicy', ['Delete', 'Recycle', 'Retain']),
    nodeAffinity(spec),
    given.flatMap((type, i) =>
      i === 0
        ? sourceRules(type, spec, metadata.name ?? '')
        : [forbiddenField(`spec.${type === 'cephfs' ? 'cephFS' : type}`, 'may not specify more than 1 volume type')],
    ),
    given.length === 0 ? [required('spec', 'must specify a volume type')] : valid,
    optionalText(spec.storageClassName, 'spec.storageClassName', dnsSubdomain),
    recycledRoot(spec),
    oneOf(spec.volumeMode, 'spec.volumeMode', volumeModes),
    attributesClass(spec),
  )
}

const sourceOf = (spec: VolumeSpec): Partial<VolumeSpec> => Object.fromEntries(sources.map((type) => [type, spec[type]]))

/** The secret for growing a volume may come later. */
const withoutNewSecret = (spec: VolumeSpec, old: VolumeSpec): VolumeSpec =>
  spec.csi && old.csi && !old.csi.controllerExpandSecretRef ? { ...spec, csi: { ...spec.csi, controllerExpandSecretRef: undefined } } : spec

const newerLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/** Whether the same nodes are meant: labels may be named as they are today. */
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

/** Where a volume's data is does not change, nor how it is seen. */
function update({ spec = {} }: Volume, { spec: old = {} }: Volume): readonly FieldError[] {
  return all(
    semanticallyEqual(sourceOf(withoutNewSecret(spec, old)), sourceOf(old))
      ? valid
      : [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation\n')],
    spec.volumeMode === old.volumeMode ? valid : [invalidValue('volumeMode', spec.volumeMode, 'field is immutable')],
    old.nodeAffinity && !isSameAffinity(spec.nodeAffinity, old.nodeAffinity)
      ? [invalidValue('nodeAffinity', spec.nodeAffinity, 'field is immutable, except for updating from beta label to GA')]
      : valid,
    old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined
      ? [forbiddenField('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : valid,
  )
}

const claim = ({ spec }: Wire<V1PersistentVolume>): string => (spec?.claimRef ? `${spec.claimRef.namespace}/${spec.claimRef.name}` : '')

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
      volume.status = { phase: 'Pending' }
    },
  },
  validate: { object: rules, update },
  warnings,
  selectableFields: { name: ({ metadata }) => metadata.name },
  columns: [
    name,
    column('Capacity', ({ spec }) => spec?.capacity?.storage ?? '0', { description: 'Its size.' }),
    column('Access Modes', ({ spec }) => accessModesText(spec?.accessModes), { description: 'How it can be mounted.' }),
    column('Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '', { description: 'What becomes of it when its claim is gone.' }),
    column('Status', ({ metadata, status }) => (metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')), {
      description: 'Whether it is free, bound or left behind.',
    }),
    column('Claim', claim, { description: 'The claim that it is bound to.' }),
    column('StorageClass', ({ metadata, spec }) => metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '', {
      description: 'Its class of storage.',
    }),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', { description: 'Its class of attributes.' }),
    column('Reason', ({ status }) => status?.reason ?? '', { description: 'Why it is in its state.' }),
    age,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', { description: 'Whether it is a file system or a block device.' }),
  ],
  deletion: { returnsObject: true },
})
