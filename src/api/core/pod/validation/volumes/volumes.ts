/** Validation of a pod's volumes, by type. */

import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../../../machinery/validation/field-error.ts'
import {
  all,
  each,
  follows,
  oneOf,
  requiredRule,
  requiredText,
  valid,
} from '../../../../../machinery/validation/field-rules.ts'
import { validateAnnotations, validateLabels } from '../../../../../machinery/validation/metadata.ts'
import { dnsLabel, dnsSubdomain } from '../../../../../machinery/validation/names.ts'
import { signOf } from '../../../../../machinery/values/quantity.ts'
import { claimSpec } from '../../../storage/claim-rules.ts'
import type { Volume } from '../../model.ts'
import { downwardFile, fileMode, items, projectedVolume } from './files.ts'
import { descendingPath, noBacksteps } from './paths.ts'
import { vendorVolumes } from './vendor-volumes.ts'

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

/** Validates a hostPath volume. */
export const hostPath = (
  { path: target, type }: { path: string; type?: string },
  path: string,
): readonly FieldError[] =>
  target
    ? [
        ...noBacksteps(target, `${path}.path`),
        ...(type === undefined || hostPathTypes.includes(type)
          ? valid
          : [notSupported(`${path}.type`, type, hostPathTypes)]),
      ]
    : [required(`${path}.path`)]

/** Validates an NFS volume. */
export const nfs = ({ server, path: target }: { server: string; path: string }, path: string): readonly FieldError[] =>
  all(
    requiredText(server, `${path}.server`),
    requiredText(target, `${path}.path`),
    target?.startsWith('/') ? valid : [invalidValue(`${path}.path`, target ?? '', 'must be an absolute path')],
  )

/** Validates the name of a CSI driver. */
export const csiDriver = (driver: string | undefined, path: string): readonly FieldError[] =>
  driver
    ? all(
        driver.length > 63 ? [tooLong(path, 63)] : valid,
        follows(driver, path, (name) => dnsSubdomain(name.toLowerCase())),
      )
    : [required(path)]

interface Iscsi {
  targetPortal: string
  iqn: string
  lun: number
  initiatorName?: string
  chapAuthDiscovery?: boolean
  chapAuthSession?: boolean
  secretRef?: object
}

const iscsiName = /^(iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+(:[^,;*&$|\s]+)|eui.[A-Za-z0-9]{16}|naa.[A-Za-z0-9]{32})$/

/** Validates the name of an iSCSI node (RFC 3721). */
function iscsiNodeName(name: string, path: string, unknown: string): readonly FieldError[] {
  if (!/^(iqn|eui|naa)/.test(name)) return [invalidValue(path, name, unknown)]
  return iscsiName.test(name) ? valid : [invalidValue(path, name, 'must be valid format')]
}

/** The maximum length of an iSCSI volume's name and portal, which form one name. */
export const maxPortal = 64
export const longPortal =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'

/** Validates an iSCSI volume; `unknown` is the message for names of an unknown format. */
export const iscsi = (
  source: Iscsi,
  path: string,
  unknown = 'must be valid format starting with iqn, eui, or naa',
): readonly FieldError[] =>
  all(
    requiredText(source.targetPortal, `${path}.targetPortal`),
    source.iqn ? iscsiNodeName(source.iqn, `${path}.iqn`, unknown) : [required(`${path}.iqn`)],
    source.lun < 0 || source.lun > 255
      ? [invalidValue(`${path}.lun`, source.lun, 'must be between 0 and 255, inclusive')]
      : valid,
    (source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef ? [required(`${path}.secretRef`)] : valid,
    source.initiatorName === undefined ? valid : iscsiNodeName(source.initiatorName, `${path}.initiatorname`, unknown),
  )

export function fc(
  { targetWWNs = [], wwids = [], lun }: { targetWWNs?: string[]; wwids?: string[]; lun?: number },
  path: string,
): readonly FieldError[] {
  if (targetWWNs.length === 0 && wwids.length === 0)
    return [required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
  if (targetWWNs.length > 0 && wwids.length > 0)
    return [invalidValue(`${path}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
  if (targetWWNs.length === 0) return valid
  if (lun === undefined) return [required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
  return lun < 0 || lun > 255 ? [invalidValue(`${path}.lun`, lun, 'must be between 0 and 255, inclusive')] : valid
}

type Source = { [Type in keyof Volume]?: (source: NonNullable<Volume[Type]>, path: string) => readonly FieldError[] }

/** In upstream's order: the first type is validated, further ones are rejected. */
const sources: Source = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && signOf(sizeLimit) < 0
      ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : valid,
  hostPath,
  gitRepo: ({ repository, directory }, path) =>
    all(
      requiredText(repository, `${path}.repository`),
      directory ? descendingPath(directory, `${path}.directory`) : valid,
    ),
  // Upstream's path is persistentDisk.
  gcePersistentDisk: (disk, path) =>
    vendorVolumes.gcePersistentDisk(disk, path.replace('gcePersistentDisk', 'persistentDisk')),
  awsElasticBlockStore: vendorVolumes.awsElasticBlockStore,
  secret: (secret, path) =>
    all(
      requiredText(secret.secretName, `${path}.secretName`),
      fileMode(secret.defaultMode, `${path}.defaultMode`),
      items(secret.items, path),
    ),
  nfs,
  iscsi,
  glusterfs: vendorVolumes.glusterfs,
  flocker: vendorVolumes.flocker,
  persistentVolumeClaim: ({ claimName }, path) => requiredText(claimName, `${path}.claimName`),
  rbd: vendorVolumes.rbd,
  cinder: vendorVolumes.cinder,
  cephfs: vendorVolumes.cephfs,
  quobyte: vendorVolumes.quobyte,
  downwardAPI: ({ defaultMode, items: files }, path) =>
    all(
      fileMode(defaultMode, `${path}.defaultMode`),
      (files ?? []).flatMap((file) => downwardFile(file, path)),
    ),
  fc,
  flexVolume: vendorVolumes.flexVolume,
  configMap: (map, path) =>
    all(
      requiredText(map.name, `${path}.name`),
      fileMode(map.defaultMode, `${path}.defaultMode`),
      items(map.items, path),
    ),
  azureFile: vendorVolumes.azureFile,
  vsphereVolume: vendorVolumes.vsphereVolume,
  photonPersistentDisk: vendorVolumes.photonPersistentDisk,
  portworxVolume: vendorVolumes.portworxVolume,
  azureDisk: vendorVolumes.azureDisk,
  storageos: vendorVolumes.storageos,
  projected: projectedVolume,
  scaleIO: vendorVolumes.scaleIO,
  csi: ({ driver, nodePublishSecretRef: secret }, path) =>
    all(
      csiDriver(driver, `${path}.driver`),
      // Upstream's path of an invalid name omits nodePublishSecretRef.
      secret
        ? secret.name
          ? follows(secret.name, `${path}.name`, dnsSubdomain)
          : [required(`${path}.nodePublishSecretRef.name`)]
        : valid,
    ),
  ephemeral: ({ volumeClaimTemplate: template }, path) => {
    const at = `${path}.volumeClaimTemplate`
    if (!template) return [required(at)]
    const given = Object.keys(template.metadata ?? {}).filter(
      (key) => !['labels', 'annotations', 'creationTimestamp'].includes(key),
    )
    return all(
      validateAnnotations(template.metadata?.annotations, `${at}.metadata.annotations`),
      validateLabels(template.metadata?.labels, `${at}.metadata.labels`),
      given.map((key) => forbiddenField(`${at}.metadata.${key === 'uid' ? 'uID' : key}`, 'cannot be set')),
      claimSpec(template.spec, `${at}.spec`),
    )
  },
  image: ({ pullPolicy }, path) => oneOf(pullPolicy, `${path}.pullPolicy`, ['Always', 'IfNotPresent', 'Never']),
}
const types = Object.keys(sources) as (keyof Volume)[]

/** Upstream's spelling of a type in the error for a second type. */
const secondTypeNames: Partial<Record<keyof Volume, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

function volumeSource(volume: Volume, path: string): readonly FieldError[] {
  let errors: readonly FieldError[] = valid
  let first = true
  for (const type of types) {
    const source = volume[type]
    if (source === undefined || source === null) continue
    const at = `${path}.${type}`
    const check = sources[type] as (source: unknown, path: string) => readonly FieldError[]
    const found = first
      ? check(source, at)
      : [forbiddenField(`${path}.${secondTypeNames[type] ?? type}`, 'may not specify more than 1 volume type')]
    if (found.length > 0) errors = [...errors, ...found]
    first = false
  }
  return first ? [required(path, 'must specify a volume type')] : errors
}

/** Validates the volumes of a pod. Adds valid ones to `known`, which the validation of mounts reads. */
export function volumes(
  list: readonly Volume[] | undefined,
  path: string,
  known: Map<string, Volume>,
  podName: string,
): readonly FieldError[] {
  return each(list, path, (volume, at) => {
    const twice = known.has(volume.name) ? [duplicate(`${at}.name`, volume.name)] : valid
    const errors = all(
      volumeSource(volume, at),
      validateDerivedNames(volume, at, podName),
      requiredRule(volume.name, `${at}.name`, dnsLabel),
      twice,
    )
    if (errors.length === 0) known.set(volume.name, volume)
    return all(errors, rejectEphemeralClaim(volume, list ?? [], `${at}.persistentVolumeClaim.claimName`, podName))
  })
}

/** Validates names that are built from the volume's name: that of an ephemeral volume's claim, and of iSCSI. */
function validateDerivedNames(
  { name, ephemeral, iscsi: disk }: Volume,
  path: string,
  podName: string,
): readonly FieldError[] {
  const tooLongName = disk?.initiatorName !== undefined && `${name}:${disk.targetPortal}`.length > maxPortal
  const claim = `${podName}-${name}`
  return all(
    tooLongName ? [invalidValue(`${path}.name`, name, longPortal)] : valid,
    ephemeral && podName && name
      ? dnsSubdomain(claim).map((message) =>
          invalidValue(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${message}`),
        )
      : valid,
  )
}

/** Rejects a reference to the claim of an ephemeral volume of the same pod. */
const rejectEphemeralClaim = (
  { persistentVolumeClaim: named }: Volume,
  list: readonly Volume[],
  path: string,
  podName: string,
): readonly FieldError[] =>
  named && podName && list.some(({ name, ephemeral }) => ephemeral && `${podName}-${name}` === named.claimName)
    ? [invalidValue(path, named.claimName, 'must not reference a PVC that gets created for an ephemeral volume')]
    : valid
