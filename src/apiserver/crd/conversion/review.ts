/** ConversionReviews (apiextensions.k8s.io/v1 and v1beta1): request to and response of a webhook. */
import { parseJson, writeJson } from '../../../lib/exact-json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { ReviewVersion } from '../../outgoing/webhooks/index.ts'

const group = 'apiextensions.k8s.io'
export const encodeReview = (
  version: ReviewVersion,
  uid: string,
  desiredAPIVersion: string,
  objects: readonly KubeObject[],
): Buffer =>
  Buffer.from(
    writeJson({
      kind: 'ConversionReview',
      apiVersion: `${group}/${version}`,
      request: { uid, desiredAPIVersion, objects },
    }),
  )

interface Review {
  readonly kind?: unknown
  readonly apiVersion?: unknown
  readonly response?: {
    readonly uid?: unknown
    readonly convertedObjects?: unknown
    readonly result?: { readonly status?: unknown; readonly message?: unknown } | null
  } | null
}

/**
 * The objects of a response, unchecked. Throws an Error for an invalid response, and with the webhook's own message if
 * it failed.
 */
export function convertedObjects(version: ReviewVersion, uid: string, answer: Buffer): readonly unknown[] {
  const { kind, apiVersion, response } = parsed(answer)
  // v1beta1 never checked this, and webhooks written for it may depend on that.
  if (version === 'v1' && (kind !== 'ConversionReview' || apiVersion !== `${group}/${version}`))
    throw new Error(
      `expected webhook response of ${group}/${version}, Kind=ConversionReview, got ${textOf(apiVersion)}, ` +
        `Kind=${textOf(kind)}`,
    )
  if (!response) throw new Error('no response provided')
  if (version === 'v1' && response.uid !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(response.uid))}`)
  const { status, message } = response.result ?? {}
  if (status !== 'Success')
    throw new Error(textOf(message) || `response.result.status was '${textOf(status)}', not 'Success'`)
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

function parsed(answer: Buffer): Review {
  let value: unknown
  try {
    value = parseJson(answer.toString())
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : error}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error("couldn't get version/kind; json parse error: it is no object")
  return value
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
