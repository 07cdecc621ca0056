/**
 * Validation of vendor volumes of pods and PersistentVolumes. Most of their drivers were removed; their fields are
 * still validated.
 */
import {
  type FieldError,
  invalidValue,
  notSupported,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import { all, follows, oneOf, requiredText, valid } from '../../../../../machinery/validation/field-rules.ts'
import { dnsLabel } from '../../../../../machinery/validation/names.ts'

/** The validated fields by type; a PersistentVolume's source may have more. */
interface Sources {
  gcePersistentDisk: { pdName?: string; partition?: number }
  awsElasticBlockStore: { volumeID?: string; partition?: number }
  glusterfs: { endpoints?: string; path?: string }
  flocker: { datasetName?: string; datasetUUID?: string }
  rbd: { monitors?: readonly string[]; image?: string }
  quobyte: { registry?: string; volume?: string; tenant?: string }
  cephfs: { monitors?: readonly string[] }
  cinder: { volumeID?: string; secretRef?: { name?: string } }
  flexVolume: { driver?: string; options?: Readonly<Record<string, string>> }
  azureFile: { secretName?: string; shareName?: string }
  vsphereVolume: { volumePath?: string }
  photonPersistentDisk: { pdID?: string }
  portworxVolume: { volumeID?: string }
  azureDisk: { diskName?: string; diskURI?: string; cachingMode?: string; kind?: string }
  scaleIO: { gateway?: string; system?: string; volumeName?: string }
  storageos: { volumeName?: string; volumeNamespace?: string; secretRef?: { name?: string } }
}
export type VendorType = keyof Sources

const partition = (value: number | undefined, path: string): readonly FieldError[] =>
  value !== undefined && (value < 0 || value > 255)
    ? [invalidValue(`${path}.partition`, value, 'must be between 0 and 255, inclusive')]
    : valid

const monitors = (list: readonly string[] | undefined, path: string): readonly FieldError[] =>
  list?.length ? valid : [required(`${path}.monitors`)]

function flocker({ datasetName, datasetUUID }: Sources['flocker'], path: string): readonly FieldError[] {
  if (!datasetName && !datasetUUID) return [required(path, 'one of datasetName and datasetUUID is required')]
  return all(
    datasetName && datasetUUID
      ? [invalidValue(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : valid,
    datasetName?.includes('/') ? [invalidValue(`${path}.datasetName`, datasetName, "must not contain '/'")] : valid,
  )
}

const registryWords = 'must be a host:port pair or multiple pairs separated by commas'

function quobyte({ registry, volume, tenant = '' }: Sources['quobyte'], path: string): readonly FieldError[] {
  const pairs = (registry ?? '').split(',').filter((pair) => !/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(pair))
  return all(
    registry
      ? pairs.map(() => invalidValue(`${path}.registry`, registry, registryWords))
      : [required(`${path}.registry`, registryWords)],
    tenant.length >= 65
      ? [required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters')]
      : valid,
    requiredText(volume, `${path}.volume`),
  )
}

const isReserved = (key: string): boolean => /\.(kubernetes|k8s)\.io$/.test(`.${key.split('/', 2)[0]?.toLowerCase()}`)

const flexVolume = ({ driver, options = {} }: Sources['flexVolume'], path: string): readonly FieldError[] =>
  all(
    requiredText(driver, `${path}.driver`),
    Object.keys(options)
      .filter(isReserved)
      .map((key) => invalidValue(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')),
  )

const managedForm = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobForm = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

function azureDisk(
  { diskName, diskURI, cachingMode, kind }: Sources['azureDisk'],
  path: string,
): readonly FieldError[] {
  const uri = diskURI ?? ''
  const fits = kind === 'Managed' ? uri.startsWith('/subscriptions/') : uri.startsWith('https://')
  return all(
    requiredText(diskName, `${path}.diskName`),
    requiredText(diskURI, `${path}.diskURI`),
    oneOf(cachingMode, `${path}.cachingMode`, ['None', 'ReadOnly', 'ReadWrite']),
    oneOf(kind, `${path}.kind`, ['Dedicated', 'Managed', 'Shared']),
    kind === undefined || fits
      ? valid
      : [notSupported(`${path}.diskURI`, uri, [kind === 'Managed' ? managedForm : blobForm])],
  )
}

const storageos = (
  { volumeName, volumeNamespace, secretRef }: Sources['storageos'],
  path: string,
): readonly FieldError[] =>
  all(
    volumeName ? follows(volumeName, `${path}.volumeName`, dnsLabel) : [required(`${path}.volumeName`)],
    volumeNamespace ? follows(volumeNamespace, `${path}.volumeNamespace`, dnsLabel) : valid,
    secretRef ? requiredText(secretRef.name, `${path}.secretRef.name`) : valid,
  )

/** The validation of each type. */
export const vendorVolumes: {
  readonly [Type in VendorType]: (source: Sources[Type], path: string) => readonly FieldError[]
} = {
  gcePersistentDisk: (disk, path) => all(requiredText(disk.pdName, `${path}.pdName`), partition(disk.partition, path)),
  awsElasticBlockStore: (disk, path) =>
    all(requiredText(disk.volumeID, `${path}.volumeID`), partition(disk.partition, path)),
  glusterfs: (volume, path) =>
    all(requiredText(volume.endpoints, `${path}.endpoints`), requiredText(volume.path, `${path}.path`)),
  flocker,
  rbd: (volume, path) => all(monitors(volume.monitors, path), requiredText(volume.image, `${path}.image`)),
  quobyte,
  cephfs: (volume, path) => monitors(volume.monitors, path),
  cinder: ({ volumeID, secretRef }, path) =>
    all(
      requiredText(volumeID, `${path}.volumeID`),
      secretRef ? requiredText(secretRef.name, `${path}.secretRef.name`) : valid,
    ),
  flexVolume,
  azureFile: ({ secretName, shareName }, path) =>
    all(requiredText(secretName, `${path}.secretName`), requiredText(shareName, `${path}.shareName`)),
  vsphereVolume: ({ volumePath }, path) => requiredText(volumePath, `${path}.volumePath`),
  photonPersistentDisk: ({ pdID }, path) => requiredText(pdID, `${path}.pdID`),
  portworxVolume: ({ volumeID }, path) => requiredText(volumeID, `${path}.volumeID`),
  azureDisk,
  scaleIO: ({ gateway, system, volumeName }, path) =>
    all(
      requiredText(gateway, `${path}.gateway`),
      requiredText(system, `${path}.system`),
      requiredText(volumeName, `${path}.volumeName`),
    ),
  storageos,
}
