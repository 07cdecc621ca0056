/** In-tree volume types and the CSI drivers that replaced them (KEP-625). */
import type { CSINode } from '../../../../client/kinds.ts'
import type { VolumeSource } from '../pod-volumes.ts'

const migratedPlugins = 'storage.alpha.kubernetes.io/migrated-plugins'

/** By the provisioner name in storage classes. */
const drivers: Readonly<Record<string, string>> = {
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/vsphere-volume': 'csi.vsphere.vmware.com',
  'kubernetes.io/portworx-volume': 'pxd.portworx.com',
}

/**
 * The CSI driver of a provisioner on a node; undefined if the kubelet still uses the in-tree plug-in. Any other name is
 * that of a driver.
 */
export function driverOf(provisioner: string, node: CSINode): string | undefined {
  const driver = drivers[provisioner]
  if (!driver) return provisioner
  const migrated = node.metadata.annotations?.[migratedPlugins]?.split(',') ?? []
  return migrated.includes(provisioner) ? driver : undefined
}

/** The in-tree plug-in of a volume, and the volume's id within the plug-in. */
export function inTreeVolume(source: VolumeSource): { readonly plugin: string; readonly handle: string } | undefined {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, cinder, vsphereVolume } = source
  if (awsElasticBlockStore) return { plugin: 'kubernetes.io/aws-ebs', handle: awsElasticBlockStore.volumeID }
  if (gcePersistentDisk) return { plugin: 'kubernetes.io/gce-pd', handle: gcePersistentDisk.pdName }
  if (azureDisk) return { plugin: 'kubernetes.io/azure-disk', handle: azureDisk.diskURI }
  if (cinder) return { plugin: 'kubernetes.io/cinder', handle: cinder.volumeID }
  if (vsphereVolume) return { plugin: 'kubernetes.io/vsphere-volume', handle: vsphereVolume.volumePath }
  return undefined
}
