/** Rules for a pod's volumes, by type. */

import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../../../machinery/validation/field-error.ts'
import { all, each, follows, oneOf, requiredRule, requiredText, valid } from '../../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../../../machinery/validation/names.ts'
import { signOf } from '../../../../machinery/values/quantity.ts'
import { claimSpec } from '../../storage/claim-rules.ts'
import type { Volume } from '../model.ts'
import { fieldRef, resourceFieldRef } from './environment.ts'
import { vendorVolumes } from './vendor-volumes.ts'

interface KeyToPath {
  key: string
  path: string
  mode?: number
}
type DownwardFile = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number]

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

/** A path without `..` in it. */
export const noBacksteps = (value: string, path: string): readonly FieldError[] =>
  value.split('/').includes('..') ? [invalidValue(path, value, "must not contain '..'")] : valid

/** A relative path that stays below where it starts. */
export const descendingPath = (value: string, path: string): readonly FieldError[] =>
  value.startsWith('/') ? [invalidValue(path, value, 'must be a relative path'), ...noBacksteps(value, path)] : noBacksteps(value, path)

const projectedPath = (value: string, path: string): readonly FieldError[] =>
  all(descendingPath(value, path), value.startsWith('..') && !value.startsWith('../') ? [invalidValue(path, value, "must not start with '..'")] : valid)

const fileMode = (mode: number | undefined, path: string): readonly FieldError[] =>
  mode !== undefined && (mode < 0 || mode > 0o777) ? [invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')] : valid

const keyToPath = ({ key, path: target, mode }: KeyToPath, path: string): readonly FieldError[] =>
  all(requiredText(key, `${path}.key`), target ? projectedPath(target, `${path}.path`) : [required(`${path}.path`)], fileMode(mode, `${path}.mode`))

const items = (list: readonly KeyToPath[] | undefined, path: string): readonly FieldError[] => each(list, `${path}.items`, keyToPath)

/** Files of the downward API: upstream's paths leave out the item's index. */
function downwardFile(file: DownwardFile, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (!file.path) errors.push(required(`${path}.path`))
  errors.push(...projectedPath(file.path ?? '', `${path}.path`))
  if (file.fieldRef) {
    errors.push(...fieldRef(file.fieldRef, `${path}.fieldRef`, 'volume'))
    if (file.resourceFieldRef) errors.push(invalidValue(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (file.resourceFieldRef) errors.push(...resourceFieldRef(file.resourceFieldRef, `${path}.resourceFieldRef`, 'volume'))
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  return all(errors, fileMode(file.mode, `${path}.mode`))
}

function projectedVolume({ defaultMode, sources }: NonNullable<Volume['projected']>, path: string): readonly FieldError[] {
  const errors = [...fileMode(defaultMode, `${path}.defaultMode`)]
  const taken = new Set<string>()
  const claim = (target: string, shown: string): void => {
    if (taken.has(target)) errors.push(invalidValue(path, shown, 'conflicting duplicate paths'))
    taken.add(target)
  }
  sources?.forEach(({ secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate }, i) => {
    const at = `${path}.sources[${i}]`
    if (secret) {
      errors.push(...requiredText(secret.name, `${at}.secret.name`), ...items(secret.items, `${at}.secret`))
      for (const item of secret.items ?? []) if (item.path) claim(item.path, secret.name ?? '')
    }
    if (configMap) {
      errors.push(...requiredText(configMap.name, `${at}.configMap.name`), ...items(configMap.items, `${at}.configMap`))
      for (const item of configMap.items ?? []) if (item.path) claim(item.path, configMap.name ?? '')
    }
    if (downwardAPI) {
      for (const file of downwardAPI.items ?? []) {
        errors.push(...downwardFile(file, `${at}.downwardAPI`))
        if (file.path) claim(file.path, file.path)
      }
    }
    if (serviceAccountToken) {
      const seconds = serviceAccountToken.expirationSeconds
      if (seconds !== undefined && seconds < 600)
        errors.push(invalidValue(`${at}.serviceAccountToken.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'))
      if (seconds !== undefined && seconds > 2 ** 32)
        errors.push(invalidValue(`${at}.serviceAccountToken.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds'))
      if (!serviceAccountToken.path) errors.push(required(`${path}.path`))
      else errors.push(...projectedPath(serviceAccountToken.path, `${path}.path`))
      if (serviceAccountToken.path) claim(serviceAccountToken.path, serviceAccountToken.path)
    }
    if ([secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate].filter(Boolean).length > 1)
      errors.push(forbiddenField(at, 'may not specify more than 1 volume type per source'))
  })
  return errors
}

/** A path on a node. */
export const hostPath = ({ path: target, type }: { path: string; type?: string }, path: string): readonly FieldError[] =>
  target
    ? [
        ...noBacksteps(target, `${path}.path`),
        ...(type === undefined || hostPathTypes.includes(type) ? valid : [notSupported(`${path}.type`, type, hostPathTypes)]),
      ]
    : [required(`${path}.path`)]

/** An export of an NFS server. */
export const nfs = ({ server, path: target }: { server: string; path: string }, path: string): readonly FieldError[] =>
  all(
    requiredText(server, `${path}.server`),
    requiredText(target, `${path}.path`),
    target?.startsWith('/') ? valid : [invalidValue(`${path}.path`, target ?? '', 'must be an absolute path')],
  )

/** The name of a CSI driver. */
export const csiDriver = (driver: string | undefined, path: string): readonly FieldError[] =>
  all(driver ? (driver.length > 63 ? [tooLong(path, 63)] : valid) : [required(path)], follows((driver ?? '').toLowerCase(), path, dnsSubdomain))

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

/** Names of iSCSI nodes (RFC 3721). */
function iscsiNodeName(name: string, path: string): readonly FieldError[] {
  if (!/^(iqn|eui|naa)/.test(name)) return [invalidValue(path, name, 'must be valid format starting with iqn, eui, or naa')]
  return iscsiName.test(name) ? valid : [invalidValue(path, name, 'must be valid format')]
}

export const iscsi = (source: Iscsi, path: string): readonly FieldError[] =>
  all(
    requiredText(source.targetPortal, `${path}.targetPortal`),
    source.iqn ? iscsiNodeName(source.iqn, `${path}.iqn`) : [required(`${path}.iqn`)],
    source.lun < 0 || source.lun > 255 ? [invalidValue(`${path}.lun`, source.lun, 'must be between 0 and 255, inclusive')] : valid,
    (source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef ? [required(`${path}.secretRef`)] : valid,
    source.initiatorName === undefined ? valid : iscsiNodeName(source.initiatorName, `${path}.initiatorname`),
  )

export function fc({ targetWWNs = [], wwids = [], lun }: { targetWWNs?: string[]; wwids?: string[]; lun?: number }, path: string): readonly FieldError[] {
  if (targetWWNs.length === 0 && wwids.length === 0) return [required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
  if (targetWWNs.length > 0 && wwids.length > 0)
    return [invalidValue(`${path}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
  if (targetWWNs.length === 0) return valid
  if (lun === undefined) return [required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
  return lun < 0 || lun > 255 ? [invalidValue(`${path}.lun`, lun, 'must be between 0 and 255, inclusive')] : valid
}

type Source = { [Type in keyof Volume]?: (source: NonNullable<Volume[Type]>, path: string) => readonly FieldError[] }

/** In the order in which upstream looks at types: the first one counts, further ones are too many. */
const sources: Source = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && signOf(sizeLimit) < 0 ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')] : valid,
  hostPath,
  gitRepo: ({ repository }, path) => requiredText(repository, `${path}.repository`),
  gcePersistentDisk: vendorVolumes.gcePersistentDisk,
  awsElasticBlockStore: vendorVolumes.awsElasticBlockStore,
  secret: (secret, path) =>
    all(requiredText(secret.secretName, `${path}.secretName`), fileMode(secret.defaultMode, `${path}.defaultMode`), items(secret.items, path)),
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
  configMap: (map, path) => all(requiredText(map.name, `${path}.name`), fileMode(map.defaultMode, `${path}.defaultMode`), items(map.items, path)),
  azureFile: vendorVolumes.azureFile,
  vsphereVolume: vendorVolumes.vsphereVolume,
  photonPersistentDisk: vendorVolumes.photonPersistentDisk,
  portworxVolume: vendorVolumes.portworxVolume,
  azureDisk: vendorVolumes.azureDisk,
  storageos: vendorVolumes.storageos,
  projected: projectedVolume,
  scaleIO: vendorVolumes.scaleIO,
  csi: ({ driver, nodePublishSecretRef: secret }, path) =>
    all(csiDriver(driver, `${path}.driver`), secret && !secret.name ? [required(`${path}.nodePublishSecretRef.name`)] : valid),
  ephemeral: ({ volumeClaimTemplate: template }, path) => {
    const at = `${path}.volumeClaimTemplate`
    if (!template) return [required(at)]
    const given = Object.keys(template.metadata ?? {}).filter((key) => !['labels', 'annotations', 'creationTimestamp'].includes(key))
    return all(
      given.map((key) => forbiddenField(`${at}.metadata.${key}`, 'cannot be set')),
      claimSpec(template.spec, `${at}.spec`),
    )
  },
  image: ({ pullPolicy }, path) => oneOf(pullPolicy, `${path}.pullPolicy`, ['Always', 'IfNotPresent', 'Never']),
}
const types = Object.keys(sources) as (keyof Volume)[]

function volumeSource(volume: Volume, path: string): readonly FieldError[] {
  let errors: readonly FieldError[] = valid
  let first = true
  for (const type of types) {
    const source = volume[type]
    if (source === undefined || source === null) continue
    const at = `${path}.${type}`
    const check = sources[type] as (source: unknown, path: string) => readonly FieldError[]
    const found = first ? check(source, at) : [forbiddenField(at, 'may not specify more than 1 volume type')]
    if (found.length > 0) errors = [...errors, ...found]
    first = false
  }
  return first ? [required(path, 'must specify a volume type')] : errors
}

/** All volumes of a pod. Those without fault are put into `known`, where mounts look for them. */
export function volumes(list: readonly Volume[] | undefined, path: string, known: Map<string, Volume>): readonly FieldError[] {
  return each(list, path, (volume, at) => {
    const twice = known.has(volume.name) ? [duplicate(`${at}.name`, volume.name)] : valid
    const errors = all(volumeSource(volume, at), requiredRule(volume.name, `${at}.name`, dnsLabel), twice)
    if (errors.length === 0) known.set(volume.name, volume)
    return errors
  })
}
