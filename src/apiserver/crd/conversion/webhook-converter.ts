/** Brings objects from one version of a definition to another by asking its webhook. */
import { randomUUID } from 'node:crypto'
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { internal } from '../../../machinery/status-error.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import { type ReviewVersion, reviewVersion, WebhookClient, type WebhookConfig } from '../../outgoing/webhooks/index.ts'
import { checkedObject, placeOf } from './converted-object.ts'
import { convertedObjects, encodeReview } from './review.ts'

/** As upstream's. Milliseconds. */
const timeoutMs = 30_000

export class WebhookConverter {
  readonly #client: WebhookClient
  readonly #reviewVersions: readonly string[]

  constructor({ spec }: Definition, sources: ServiceSources) {
    const { clientConfig, conversionReviewVersions } = spec.conversion?.webhook ?? {}
    this.#client = new WebhookClient((clientConfig ?? {}) as WebhookConfig, { sources, timeoutMs })
    this.#reviewVersions = conversionReviewVersions ?? []
  }

  /**
   * Objects that are all of one version and kind, in version `to`, in the same order. Nothing is done for those of that
   * version already. Rejects with a StatusError of code 500 that says why. All of them come back, or none.
   */
  async convert(objects: readonly KubeObject[], to: string): Promise<readonly KubeObject[]> {
    const [first] = objects
    if (!first || first.apiVersion === to) return objects
    let version: ReviewVersion
    try {
      version = reviewVersion(this.#reviewVersions, 'no supported conversion review versions')
    } catch (error) {
      throw internal(messageOf(error))
    }
    const which = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`
    const uid = randomUUID()
    let converted: readonly unknown[]
    try {
      converted = convertedObjects(version, uid, await this.#client.post(encodeReview(version, uid, to, objects)))
    } catch (error) {
      throw internal(`${which} failed: ${messageOf(error)}`)
    }
    if (converted.length !== objects.length)
      throw internal(`${which} returned ${converted.length} objects, expected ${objects.length}`)
    try {
      return objects.map((original, i) => checkedObject(original, converted[i], to, placeOf(i, objects.length)))
    } catch (error) {
      throw internal(`${which} ${messageOf(error)}`)
    }
  }

  /** It has been replaced: what is under way goes on. */
  retire(): void {
    this.#client.retire()
  }

  stop(): void {
    this.#client.stop()
  }
}
