/** Records events on pods about the attachment of their volumes: each outcome once, failures periodically. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import type { Pod, VolumeAttachment } from '../../../client/kinds.ts'
import { volumeName } from './indexes.ts'
import type { AttachmentPlan } from './plan.ts'

export class AttachmentEvents {
  readonly #repeatAfterMs: number
  readonly #now: () => number
  /** The last event and its time, by attachment name or, for a waiting node, by node and volume. */
  readonly #last = new Map<string, { readonly text: string; readonly at: number }>()

  /** `now` is in ms. */
  constructor(repeatAfterMs: number, now: () => number) {
    this.#repeatAfterMs = repeatAfterMs
    this.#now = now
  }

  /** An attachment was requested: its next outcome must be recorded. */
  requested(attachment: string): void {
    this.#last.set(attachment, { text: '', at: this.#now() })
  }

  forget(attachment: string): void {
    this.#last.delete(attachment)
  }

  /** The node no longer waits for the volume. */
  unblocked(node: string, volume: string): void {
    this.#last.delete(`${node} ${volume}`)
  }

  /** Records new outcomes. `users` returns the pods of the node that use a volume. */
  record(
    node: string,
    { blocked }: AttachmentPlan,
    attachments: readonly VolumeAttachment[],
    users: (volume: string) => readonly Pod[],
    { events, requeue }: ReconcileContext,
  ): void {
    for (const { desired, message } of blocked) {
      if (!this.#shouldRecord(`${node} ${desired.volume.metadata.name}`, message)) continue
      for (const pod of desired.pods) events.record(pod, 'Warning', 'FailedAttachVolume', message)
      requeue(node, this.#repeatAfterMs)
    }
    for (const attachment of attachments) {
      const { metadata, status } = attachment
      const name = metadata.name ?? ''
      const volume = volumeName(attachment)
      const failure = status?.attachError?.message
      const previous = this.#last.get(name)
      if (status?.attached) {
        // A previous controller recorded attachments from before this one started.
        if (previous && previous.text !== 'attached')
          for (const pod of users(volume))
            events.record(
              pod,
              'Normal',
              'SuccessfulAttachVolume',
              `AttachVolume.Attach succeeded for volume "${volume}" `,
            )
        this.#last.set(name, { text: 'attached', at: this.#now() })
      } else if (failure) {
        if (this.#shouldRecord(name, failure))
          for (const pod of users(volume))
            events.record(
              pod,
              'Warning',
              'FailedAttachVolume',
              `AttachVolume.Attach failed for volume "${volume}" : ${failure}`,
            )
      } else if (!previous) this.requested(name)
    }
  }

  #shouldRecord(key: string, text: string): boolean {
    const last = this.#last.get(key)
    if (last?.text === text && this.#now() - last.at < this.#repeatAfterMs) return false
    this.#last.set(key, { text, at: this.#now() })
    return true
  }
}
