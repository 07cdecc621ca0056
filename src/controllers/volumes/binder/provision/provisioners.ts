/** Finds the provisioner of a class: this controller, an external one such as a CSI driver, or none. */
import type { StorageClass } from '../../../../client/kinds.ts'
import { type HostPathOptions, hostPathProvisioner } from './host-path.ts'

/** Former in-tree provisioners and the CSI drivers that replaced them. */
const migrated: Readonly<Record<string, string>> = {
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/portworx-volume': 'pxd.portworx.com',
  'kubernetes.io/vsphere-volume': 'csi.vsphere.vmware.com',
}
const inTree = 'kubernetes.io/'

export type Provisioner =
  | { readonly is: 'host path' }
  /** `driver` provisions the volume; it differs from `name` if that was migrated. */
  | { readonly is: 'external'; readonly name: string; readonly driver: string }
  | { readonly is: 'none'; readonly why: string }

export function provisionerOf({ provisioner: name }: StorageClass, hostPath: HostPathOptions): Provisioner {
  if (name === hostPathProvisioner) {
    if (hostPath.enabled) return { is: 'host path' }
    return { is: 'none', why: `Failed to create provisioner: provisioning in volume plugin "${name}" is disabled` }
  }
  const driver = migrated[name]
  if (driver) return { is: 'external', name, driver }
  if (name.startsWith(inTree)) return { is: 'none', why: `no volume plugin matched name: ${name}` }
  return { is: 'external', name, driver: name }
}
