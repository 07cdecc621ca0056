/**
 * Grows file systems and devices on this node after their volumes have grown (`NodeExpandVolume`), and completes the
 * resize in the status of the claim. Messages are upstream's.
 */
import type { PersistentVolumeClaim } from '../../../../client/kinds.ts'
import { compareQuantities, wholeValue } from '../../../../machinery/values/quantity.ts'
import type { PodEvent } from '../../../../node/pods/pod-types.ts'
import type { Pod } from '../../../pod-types.ts'
import type { CsiObjects } from './csi-objects.ts'
import { type CsiVolume, capabilityOf } from './csi-volume.ts'
import { Capability } from './driver/csi-driver-client.ts'
import type { CsiDrivers } from './driver/csi-drivers.ts'
import { secretValues } from './volume-context.ts'

export interface VolumeExpansionOptions {
  readonly drivers: CsiDrivers
  readonly csi: CsiObjects
  readonly nodeName: string
  record(pod: Pod, event: PodEvent): void
  readonly log: (line: string) => void
}

/** Conditions of a claim that end with the resize. */
const resizeConditions: ReadonlySet<string> = new Set(['FileSystemResizePending', 'Resizing', 'NodeResizeError'])

export class VolumeExpansion {
  readonly #options: VolumeExpansionOptions

  constructor(options: VolumeExpansionOptions) {
    this.#options = options
  }

  /** Does nothing if the volume has its size. Failures are events; the volume stays usable with the old size. */
  async expand(pod: Pod, volume: CsiVolume, path: string, stagingPath: string): Promise<void> {
    const { drivers, log, record } = this.#options
    if (!volume.persistentVolume || volume.isReadOnly) return
    try {
      const client = drivers.client(volume.driver)
      if (!(await client.capabilities()).has(Capability.EXPAND_VOLUME)) return
    } catch (error) {
      log(`cannot expand the volume ${volume.name}: ${(error as Error).message}`)
      return
    }
    try {
      await this.#expand(pod, volume, path, stagingPath)
    } catch (error) {
      const message =
        `NodeExpandVolume.NodeExpandVolume failed for volume ${JSON.stringify(volume.name)} : Expander.NodeExpand ` +
        `failed to expand the volume : ${(error as Error).message}`
      record(pod, { type: 'Warning', reason: 'VolumeResizeFailed', message })
    }
  }

  async #expand(pod: Pod, volume: CsiVolume, volumePath: string, stagingTargetPath: string): Promise<void> {
    const { csi, drivers, record, nodeName } = this.#options
    const persistentVolume = await csi.persistentVolume(volume.name)
    const { claimRef, capacity } = persistentVolume?.spec ?? {}
    const { namespace = '', name = '' } = claimRef ?? {}
    const claim = await csi.claim(namespace, name)
    const wanted = capacity?.storage
    const current = claim?.status?.capacity?.storage
    if (!claim || !wanted || !current || compareQuantities(wanted, current) <= 0) return
    const client = drivers.client(volume.driver)
    const capabilities = await client.capabilities()
    await client.expand({
      volumeId: volume.handle,
      volumePath,
      capacityRange: { requiredBytes: wholeValue(wanted) },
      stagingTargetPath,
      volumeCapability: capabilityOf(volume, capabilities),
      secrets: { ...(await secretValues(csi, volume.expandSecret)) },
    })
    await csi.patchClaimStatus(namespace, name, completedResize(claim, wanted))
    const succeeded = `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(volume.name)}`
    record(pod, { type: 'Normal', reason: 'FileSystemResizeSuccessful', message: `${succeeded} ${nodeName}` })
  }
}

/** A merge patch of the status of a claim whose volume has its new size. */
export function completedResize({ status }: PersistentVolumeClaim, storage: string): object {
  const conditions = (status?.conditions ?? []).filter(({ type }) => !resizeConditions.has(type))
  return {
    capacity: { storage },
    conditions: conditions.length > 0 ? conditions : null,
    ...(status?.allocatedResourceStatuses?.storage && { allocatedResourceStatuses: { storage: null } }),
  }
}
