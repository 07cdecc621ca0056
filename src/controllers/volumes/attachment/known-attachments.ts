/** The attachments of the cache and those that were just created and are not in the cache yet. */
import type { Caches } from '../../../client/controller/controller.ts'
import { type VolumeAttachment, volumeAttachments } from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { attachmentsByNode, attachmentsByVolume, volumeName } from './indexes.ts'

export class KnownAttachments {
  /** Created attachments that are not in the cache yet, by name. */
  readonly #uncached = new Map<string, VolumeAttachment>()

  ofNode(node: string, caches: Caches): VolumeAttachment[] {
    const uncached = [...this.#uncached.values()].filter(({ spec }) => spec?.nodeName === node)
    return [...caches.by(volumeAttachments, attachmentsByNode, node), ...uncached]
  }

  ofVolume(volume: string, caches: Caches): VolumeAttachment[] {
    const uncached = [...this.#uncached.values()].filter((attachment) => volumeName(attachment) === volume)
    return [...caches.by(volumeAttachments, attachmentsByVolume, volume), ...uncached]
  }

  async create(attachment: VolumeAttachment, client: RestClient): Promise<void> {
    const { name = '' } = attachment.metadata
    // Recorded before the request, so that no other node gets the volume meanwhile.
    this.#uncached.set(name, attachment)
    try {
      await client.create(volumeAttachments, attachment)
    } catch (error) {
      this.#uncached.delete(name)
      throw error
    }
  }

  /** Must be called when the informer reports a change of an attachment. */
  observe(name: string): void {
    this.#uncached.delete(name)
  }
}
