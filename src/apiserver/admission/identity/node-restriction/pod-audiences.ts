/**
 * The token audiences of a pod's volumes: those of projected volumes, and those of the CSI drivers of other volumes
 * (KEP-1855).
 */
import type { V1CSIDriver, V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Pod } from '../../../../api/core/pod/references/object-names.ts'
import type { KubeObject, Model } from '../../../../machinery/object.ts'
import { quoted } from './write.ts'

export interface StorageLookup {
  /** Returns undefined for a missing object. */
  find<T extends KubeObject>(
    kind: 'claims' | 'volumes' | 'drivers',
    namespace: string,
    name: string,
  ): Promise<T | undefined>
}

/** The CSI drivers to which in-tree volume types were migrated. */
const successors: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
}

/**
 * Returns true if a volume of the pod uses the audience. Stops at the first such volume. If none does, rejects with an
 * Error if a claim, volume or driver was missing.
 */
export async function usesAudience({ metadata, spec }: Pod, audience: string, lookup: StorageLookup): Promise<boolean> {
  const namespace = metadata.namespace ?? ''
  const faults = new Set<string>()
  const missing: Missing = (kind, name) => {
    faults.add(`${kind} ${quoted(name)} not found`)
    return undefined
  }
  for (const volume of spec?.volumes ?? []) {
    if (
      volume.projected?.sources?.some(({ serviceAccountToken: token }) => token && (token.audience ?? '') === audience)
    )
      return true
    const claim = volume.ephemeral ? `${metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName
    const driver = claim === undefined ? driverOf(volume) : await driverOfClaim(namespace, claim, lookup, missing)
    if (driver === undefined) continue
    const found = await lookup.find<Model<V1CSIDriver>>('drivers', '', driver)
    if (!found) missing('csidriver.storage.k8s.io', driver)
    if (found?.spec?.tokenRequests?.some((request) => request.audience === audience)) return true
  }
  if (faults.size > 0) throw new Error(faults.size === 1 ? [...faults][0] : `[${[...faults].join(', ')}]`)
  return false
}

/** Records a missing object. */
type Missing = (kind: string, name: string) => undefined

async function driverOfClaim(
  namespace: string,
  name: string,
  lookup: StorageLookup,
  missing: Missing,
): Promise<string | undefined> {
  const claim = await lookup.find<Model<V1PersistentVolumeClaim>>('claims', namespace, name)
  if (!claim) return missing('persistentvolumeclaim', name)
  const volumeName = claim.spec?.volumeName ?? ''
  const volume = await lookup.find<Model<V1PersistentVolume>>('volumes', '', volumeName)
  if (!volume) return missing('persistentvolume', volumeName)
  return driverOf(volume.spec ?? {})
}

/** Volumes of pods and PersistentVolumes name their source by the same fields. */
const driverOf = (source: { readonly csi?: { readonly driver: string } }): string | undefined =>
  source.csi?.driver ?? Object.entries(successors).find(([field]) => Object.hasOwn(source, field))?.[1]
