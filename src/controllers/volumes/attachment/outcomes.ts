/**
 * What pods are told of the volumes that are attached for them: each outcome once, and a failure again after a while.
 */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import type { Pod, VolumeAttachment } from '../../../client/kinds.ts'
import { type AttachmentPlan, volumeName } from './plan.ts'

export class AttachmentOutcomes {
  readonly #againMs: number
  readonly #now: () => number
  /** What was told last, and when: of an attachment, by its name, and of a node that waits for a volume, by both. */
  readonly #told = new Map<string, { readonly text: string; readonly at: number }>()

  /** `now` is in ms. */
  constructor(againMs: number, now: () => number) {
    this.#againMs = againMs
    this.#now = now
  }

  /** An attachment is asked for: what becomes of it is news. */
  asked(attachment: string): void {
    this.#told.set(attachment, { text: '', at: this.#now() })
  }

  forget(attachment: string): void {
    this.#told.delete(attachment)
  }

  /** The node waits for the volume no longer. */
  unblocked(node: string, volume: string): void {
    this.#told.delete(`${node} ${volume}`)
  }

  /** `users` gives the pods of the node that use a volume. */
  tell(
    node: string,
    { blocked }: AttachmentPlan,
    attachments: readonly VolumeAttachment[],
    users: (volume: string) => readonly Pod[],
    { events, requeue }: ReconcileContext,
  ): void {
    for (const { wanted, message } of blocked) {
      if (!this.#isNews(`${node} ${wanted.volume.metadata.name}`, message)) continue
      for (const pod of wanted.pods) events.record(pod, 'Warning', 'FailedAttachVolume', message)
      requeue(node, this.#againMs)
    }
    for (const attachment of attachments) {
      const { metadata, status } = attachment
      const name = metadata.name ?? ''
      const volume = volumeName(attachment)
      const failure = status?.attachError?.message
      const before = this.#told.get(name)
      if (status?.attached) {
        // What was attached before this controller began was told by the one before it.
        if (before && before.text !== 'attached')
          for (const pod of users(volume))
            events.record(
              pod,
              'Normal',
              'SuccessfulAttachVolume',
              `AttachVolume.Attach succeeded for volume "${volume}" `,
            )
        this.#told.set(name, { text: 'attached', at: this.#now() })
      } else if (failure) {
        if (this.#isNews(name, failure))
          for (const pod of users(volume))
            events.record(
              pod,
              'Warning',
              'FailedAttachVolume',
              `AttachVolume.Attach failed for volume "${volume}" : ${failure}`,
            )
      } else if (!before) this.asked(name)
    }
  }

  #isNews(key: string, text: string): boolean {
    const last = this.#told.get(key)
    if (last?.text === text && this.#now() - last.at < this.#againMs) return false
    this.#told.set(key, { text, at: this.#now() })
    return true
  }
}
