/**
 * Waits until the attach-detach controller and the external attacher have attached a volume to this node, and reports
 * the volumes that must stay attached (`status.volumesInUse`).
 */
import { attachmentName, nodeVolumeName } from '../../../../api/storage/attachment-names.ts'
import { PendingError } from '../../volume-plugin.ts'
import type { CsiObjects } from './csi-objects.ts'
import type { CsiVolume } from './csi-volume.ts'
import type { VolumeData } from './volume-data.ts'

/** The names of attachable volumes that pods of this node use, or did until their removal is complete. */
export class VolumesInUse {
  readonly #names = new Set<string>()
  /** Called after each change, as to write the node's status. */
  onChange = (): void => {}

  get names(): readonly string[] {
    return [...this.#names].sort()
  }

  add(name: string): void {
    if (this.#names.has(name)) return
    this.#names.add(name)
    this.onChange()
  }

  remove(name: string): void {
    if (this.#names.delete(name)) this.onChange()
  }
}

type VolumeId = Pick<CsiVolume, 'driver' | 'handle'>

export class VolumeAttachments {
  readonly #objects: CsiObjects
  readonly #nodeName: string
  readonly #inUse: VolumesInUse

  constructor(objects: CsiObjects, nodeName: string, inUse: VolumesInUse) {
    this.#objects = objects
    this.#nodeName = nodeName
    this.#inUse = inUse
  }

  /** Volumes that were set up before a restart stay in use. */
  restore(volumes: readonly VolumeData[]): void {
    for (const { volumeLifecycleMode, driverName, volumeHandle } of volumes)
      if (volumeLifecycleMode !== 'Ephemeral') this.#inUse.add(nodeVolumeName(driverName, volumeHandle))
  }

  /** The volume is neither mounted nor staged any more. */
  release({ driver, handle }: VolumeId): void {
    this.#inUse.remove(nodeVolumeName(driver, handle))
  }

  /**
   * Resolves with the attacher's values for the driver, which are empty if the driver attaches nothing. Rejects with a
   * PendingError while the volume is not attached, and with the attacher's message if it has failed.
   */
  async publishContext({ driver, handle, isEphemeral }: CsiVolume): Promise<Readonly<Record<string, string>>> {
    if (isEphemeral) return {}
    const csiDriver = await this.#objects.driver(driver)
    if (csiDriver?.spec?.attachRequired === false) return {}
    const name = nodeVolumeName(driver, handle)
    this.#inUse.add(name)
    const { volumesInUse = [], volumesAttached = [] } = (await this.#objects.node())?.status ?? {}
    if (!volumesInUse.includes(name))
      throw new PendingError(`Volume has not been added to the list of VolumesInUse in the node's volume status`)
    if (!volumesAttached.some((attached) => attached.name === name))
      throw new PendingError('Volume not attached according to node status')
    return this.#attached(handle, attachmentName(handle, driver, this.#nodeName))
  }

  async #attached(handle: string, name: string): Promise<Readonly<Record<string, string>>> {
    const attachment = await this.#objects.attachment(name)
    if (!attachment) {
      const missing = `volumeattachments.storage.k8s.io ${JSON.stringify(name)} not found`
      throw new Error(`volume ${handle} has GET error for volume attachment ${name}: ${missing}`)
    }
    if (attachment.metadata.deletionTimestamp) throw new Error('volume attachment is being deleted')
    const { attached, attachError, attachmentMetadata } = attachment.status ?? {}
    if (attached) return attachmentMetadata ?? {}
    if (attachError) throw new Error(attachError.message ?? '')
    throw new PendingError(`volume attachment ${name} is not attached`)
  }
}
