/** Kinds of volumes that were in Kubernetes once, and the CSI drivers that look after them now (KEP-625). */
import type { CSINode } from '../../../../client/kinds.ts'
import type { VolumeSource } from '../pod-volumes.ts'

const migratedPlugins = 'storage.alpha.kubernetes.io/migrated-plugins'

/** By the name that classes know the provisioner by. */
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
 * The driver of a provisioner on a node; undefined where the node's kubelet still does it itself. A name that is no
 * plug-in's is a driver's.
 */
export function driverOf(provisioner: string, node: CSINode): string | undefined {
  const driver = drivers[provisioner]
  if (!driver) return provisioner
  const migrated = node.metadata.annotations?.[migratedPlugins]?.split(',') ?? []
  return migrated.includes(provisioner) ? driver : undefined
}

/** The plug-in of a volume, and what tells it from others of the plug-in. */
export function inTreeVolume(source: VolumeSource): { readonly plugin: string; readonly handle: string } | undefined {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, cinder, vsphereVolume } = source
  if (awsElasticBlockStore) return { plugin: 'kubernetes.io/aws-ebs', handle: awsElasticBlockStore.volumeID }
  if (gcePersistentDisk) return { plugin: 'kubernetes.io/gce-pd', handle: gcePersistentDisk.pdName }
  if (azureDisk) return { plugin: 'kubernetes.io/azure-disk', handle: azureDisk.diskURI }
  if (cinder) return { plugin: 'kubernetes.io/cinder', handle: cinder.volumeID }
  if (vsphereVolume) return { plugin: 'kubernetes.io/vsphere-volume', handle: vsphereVolume.volumePath }
  return undefined
}
