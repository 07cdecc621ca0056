/** The objects of the API that CSI volumes need. */
import {
  type CSIDriver,
  csiDrivers,
  type Node,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  type Secret,
  secrets,
  type VolumeAttachment,
  volumeAttachments,
} from '../../../../client/kinds.ts'
import type { RestClient } from '../../../../client/rest/rest-client.ts'

/** Lookups resolve with undefined for a missing object, and reject if the API cannot be reached. */
export interface CsiObjects {
  /** The last known one while the API cannot be reached. */
  driver(name: string): Promise<CSIDriver | undefined>
  attachment(name: string): Promise<VolumeAttachment | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>
  persistentVolume(name: string): Promise<PersistentVolume | undefined>
  /** This node. */
  node(): Promise<Node | undefined>
  patchClaimStatus(namespace: string, name: string, status: object): Promise<void>
}

export function csiObjects(client: Pick<RestClient, 'find' | 'patch'>, nodeName: string): CsiObjects {
  const drivers = new Map<string, CSIDriver | undefined>()
  return {
    async driver(name) {
      try {
        const driver = await client.find(csiDrivers, '', name)
        drivers.set(name, driver)
        return driver
      } catch (error) {
        if (!drivers.has(name)) throw error
        return drivers.get(name)
      }
    },
    attachment: (name) => client.find(volumeAttachments, '', name),
    secret: (namespace, name) => client.find(secrets, namespace, name),
    claim: (namespace, name) => client.find(persistentVolumeClaims, namespace, name),
    persistentVolume: (name) => client.find(persistentVolumes, '', name),
    node: () => client.find(nodes, '', nodeName),
    async patchClaimStatus(namespace, name, status) {
      await client.patch(persistentVolumeClaims, namespace, name, { status }, 'merge', 'status')
    },
  }
}
