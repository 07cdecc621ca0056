/** Validation of the spec of a PersistentVolume. */
import { posix } from 'node:path'
import type { V1PersistentVolumeSpec } from '@kubernetes/client-node'
import type { Wire } from '../../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import {
  all,
  follows,
  oneOf,
  optionalText,
  requiredRule,
  requiredText,
  valid,
} from '../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'
import { signOf, wholeValue } from '../../../machinery/values/quantity.ts'
import { nodeSelector } from '../pod/validation/scheduling.ts'
import { noBacksteps } from '../pod/validation/volumes/paths.ts'
import { vendorVolumes } from '../pod/validation/volumes/vendor-volumes.ts'
import { csiDriver, fc, hostPath, iscsi, longPortal, maxPortal, nfs } from '../pod/validation/volumes/volumes.ts'
import { accessModes, volumeModes } from './claim-rules.ts'

export type VolumeSpec = Wire<V1PersistentVolumeSpec>

/** Volume types, in the order of upstream's validation. */
export const sources = [
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

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const

function capacity(list: VolumeSpec['capacity'], path: string): readonly FieldError[] {
  const entries = Object.entries(list ?? {})
  const errors: FieldError[] = entries.length === 0 ? [required(path)] : []
  if (list?.storage === undefined || entries.length > 1) errors.push(notSupported(path, list ?? null, ['storage']))
  for (const [name, amount] of entries) {
    const at = `${path}[${name}]`
    if (signOf(amount) < 0)
      errors.push(invalidValue(at, Number(wholeValue(amount)), 'must be a valid resource quantity'))
    if (signOf(amount) <= 0) errors.push(invalidValue(at, amount, 'must be greater than zero'))
  }
  return errors
}

function nodeAffinity({ nodeAffinity: affinity }: VolumeSpec, parent: string): readonly FieldError[] {
  if (!affinity) return valid
  const path = `${parent}.nodeAffinity.required`
  return affinity.required
    ? nodeSelector(affinity.required, path)
    : [required(path, 'must specify required node constraints')]
}

function sourceRules(
  type: (typeof sources)[number],
  spec: VolumeSpec,
  name: string,
  parent: string,
): readonly FieldError[] {
  const path = `${parent}.${type}`
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
      return csiVolume(spec.csi, path)
    case 'gcePersistentDisk':
      return vendorVolumes.gcePersistentDisk(spec.gcePersistentDisk ?? {}, `${parent}.persistentDisk`)
    case 'glusterfs':
      return glusterfsVolume(spec.glusterfs ?? {}, path)
    case 'azureFile':
      return all(
        vendorVolumes.azureFile(spec.azureFile ?? {}, path),
        spec.azureFile?.secretNamespace === '' ? [required(`${path}.secretNamespace`)] : valid,
      )
    case 'local':
      return all(
        spec.local?.path ? noBacksteps(spec.local.path, `${path}.path`) : [required(`${path}.path`)],
        spec.nodeAffinity ? valid : [required(`${parent}.nodeAffinity`, 'Local volume requires node affinity')],
      )
    case 'cinder':
      return all(vendorVolumes.cinder(spec.cinder ?? {}, path), secretNamespace(spec.cinder?.secretRef, path))
    case 'storageos':
      return all(vendorVolumes.storageos(spec.storageos ?? {}, path), secretNamespace(spec.storageos?.secretRef, path))
    default:
      return (vendorVolumes[type] as (source: unknown, path: string) => readonly FieldError[])(spec[type], path)
  }
}

const csiVolume = (source: VolumeSpec['csi'], path: string): readonly FieldError[] =>
  all(
    csiDriver(source?.driver, `${path}.driver`),
    requiredText(source?.volumeHandle, `${path}.volumeHandle`),
    csiSecrets.flatMap((field) => {
      const secret = source?.[field]
      return secret
        ? all(
            requiredRule(secret.name, `${path}.${field}.name`, dnsSubdomain),
            requiredRule(secret.namespace, `${path}.${field}.namespace`, dnsLabel),
          )
        : valid
    }),
  )

function glusterfsVolume(source: Partial<NonNullable<VolumeSpec['glusterfs']>>, path: string): readonly FieldError[] {
  const namespacePath = `${path}.endpointsNamespace`
  const mustBeName = 'if the endpointnamespace is set, it must be a valid namespace name'
  return all(
    vendorVolumes.glusterfs(source, path),
    source.endpointsNamespace === ''
      ? [invalidValue(namespacePath, '', mustBeName)]
      : follows(source.endpointsNamespace, namespacePath, dnsLabel),
  )
}

/** A PersistentVolume has no namespace, so its secret reference needs one. */
const secretNamespace = (secret: { namespace?: string } | undefined, path: string): readonly FieldError[] =>
  secret ? requiredText(secret.namespace, `${path}.secretRef.namespace`) : valid

/** Validates iSCSI as in a pod, with a shorter message for names, and requires a name of the secret. */
function iscsiVolume(source: NonNullable<VolumeSpec['iscsi']>, name: string, path: string): readonly FieldError[] {
  const { targetPortal, initiatorName, secretRef } = source
  return all(
    initiatorName !== undefined && `${name}:${targetPortal}`.length > maxPortal
      ? [invalidValue(`${path}.targetportal`, targetPortal, longPortal)]
      : valid,
    iscsi(source, path, 'must be valid format'),
    secretRef ? requiredText(secretRef.name, `${path}.secretRef.name`) : valid,
  )
}

/** Rejects Recycle for a hostPath of the node's root. */
function recycledRoot(
  { hostPath: host, persistentVolumeReclaimPolicy: policy }: VolumeSpec,
  path: string,
): readonly FieldError[] {
  return host && policy === 'Recycle' && posix.normalize(host.path ?? '') === '/'
    ? [forbiddenField(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")]
    : valid
}

/** Validates volumeAttributesClassName, which needs a CSI driver. */
function attributesClass(
  { volumeAttributesClassName: className, csi }: VolumeSpec,
  parent: string,
): readonly FieldError[] {
  if (className === undefined) return valid
  const path = `${parent}.volumeAttributesClassName`
  return all(
    className === '' ? [required(path, 'an empty string is disallowed')] : follows(className, path, dnsSubdomain),
    csi ? valid : [required(`${parent}.csi`, 'has to be specified when using volumeAttributesClassName')],
  )
}

/** Validates the spec of a volume at `path`; `name` is the volume's. */
export function volumeSpec(spec: VolumeSpec, name: string, path: string): readonly FieldError[] {
  return all(
    accessModes(spec.accessModes, `${path}.accessModes`),
    capacity(spec.capacity, `${path}.capacity`),
    oneOf(spec.persistentVolumeReclaimPolicy, `${path}.persistentVolumeReclaimPolicy`, ['Delete', 'Recycle', 'Retain']),
    nodeAffinity(spec, path),
    source(spec, name, path),
    recycledRoot(spec, path),
    optionalText(spec.storageClassName, `${path}.storageClassName`, dnsSubdomain),
    oneOf(spec.volumeMode, `${path}.volumeMode`, volumeModes),
    attributesClass(spec, path),
  )
}

const inline = 'in the context of inline volumes'

/**
 * Validates an inline volume spec in a VolumeAttachment, at `path`: a migrated CSI volume of a pod, without an object
 * of its own.
 */
export function inlineVolumeSpec(spec: VolumeSpec, path: string): readonly FieldError[] {
  const { persistentVolumeReclaimPolicy: policy, volumeMode } = spec
  const no = (isGiven: unknown, field: string, what = 'may not be specified'): readonly FieldError[] =>
    isGiven ? [forbiddenField(`${path}.${field}`, `${what} ${inline}`)] : valid
  return all(
    no(spec.claimRef, 'claimRef'),
    no(Object.keys(spec.capacity ?? {}).length > 0, 'capacity'),
    spec.csi ? valid : [required(`${path}.csi`, `has to be specified ${inline}`)],
    accessModes(spec.accessModes, `${path}.accessModes`),
    no(policy && policy !== 'Retain', 'persistentVolumeReclaimPolicy', 'may only be Retain'),
    no(spec.nodeAffinity, 'nodeAffinity'),
    source(spec, '', path),
    recycledRoot(spec, path),
    no(spec.storageClassName, 'storageClassName'),
    no(
      volumeMode !== undefined && volumeMode !== 'Filesystem',
      'volumeMode',
      'may not specify volumeMode other than Filesystem',
    ),
    attributesClass(spec, path),
  )
}

/** Validates the source: exactly one type. */
function source(spec: VolumeSpec, name: string, path: string): readonly FieldError[] {
  const given = sources.filter((type) => spec[type])
  if (given.length === 0) return [required(path, 'must specify a volume type')]
  return given.flatMap((type, i) =>
    i === 0
      ? sourceRules(type, spec, name, path)
      : [forbiddenField(`${path}.${type === 'cephfs' ? 'cephFS' : type}`, 'may not specify more than 1 volume type')],
  )
}
