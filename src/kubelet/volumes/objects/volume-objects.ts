/** The objects of the API that volumes are made from. */
import type {
  ClusterTrustBundle,
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
} from '../../../client/kinds.ts'

/** Lookups resolve with undefined for a missing object, and reject if the API cannot be reached. */
export interface VolumeObjects {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>
  persistentVolume(name: string): Promise<PersistentVolume | undefined>
  trustBundle(name: string): Promise<ClusterTrustBundle | undefined>
  trustBundles(): Promise<readonly ClusterTrustBundle[]>
}
