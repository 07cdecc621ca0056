/** Converts objects between versions of a definition by its webhook. */
import { randomUUID } from 'node:crypto'
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { internal } from '../../../machinery/status-error.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import { type ReviewVersion, reviewVersion, WebhookClient, type WebhookConfig } from '../../outgoing/webhooks/index.ts'
import { checkedObject, errorPrefixes } from './converted-object.ts'
import { convertedObjects, encodeReview } from './review.ts'

/** Upstream's timeout, in ms. */
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
   * Converts objects, all of one version and kind, to version `to`, in the same order; returns them as they are if they
   * have that version. Rejects with a StatusError of code 500 if any conversion fails.
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
      return objects.map((original, i) => checkedObject(original, converted[i], to, errorPrefixes(i, objects.length)))
    } catch (error) {
      throw internal(`${which} ${messageOf(error)}`)
    }
  }

  /** Called when it is replaced: calls in progress complete. */
  retire(): void {
    this.#client.retire()
  }

  stop(): void {
    this.#client.stop()
  }
}
