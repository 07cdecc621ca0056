/** The ImageReview that is sent to the webhook, and its answer. */
import { fieldsOf, reviewIn } from '../../../outgoing/webhooks/index.ts'
import type { PodWithSpec } from '../pod-write.ts'

export interface ReviewStatus {
  readonly allowed: boolean
  readonly reason: string
  readonly auditAnnotations: Readonly<Record<string, string>>
}

const kind = 'ImageReview'
const apiVersion = 'imagepolicy.k8s.io/v1alpha1'

/** Returns the review as JSON. Equal pods give equal texts, which are the cache keys. */
export function reviewOf(
  { metadata, spec }: PodWithSpec,
  namespace: string,
  what: 'containers' | 'ephemeralContainers',
): string {
  const containers =
    what === 'containers'
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      : (spec.ephemeralContainers ?? [])
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key]) => key.includes('.image-policy.k8s.io/'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({
    kind,
    apiVersion,
    metadata: {},
    spec: {
      containers: containers.map(({ image }) => ({ image })),
      ...(annotations.length && { annotations: Object.fromEntries(annotations) }),
      namespace,
    },
    status: { allowed: false },
  })
}

/** Throws an Error for an answer that is not a review. */
export function statusIn(answer: Buffer): ReviewStatus {
  const { status = {} } = reviewIn(answer, kind, apiVersion)
  const { allowed = false, reason = '', auditAnnotations = {} } = fieldsOf(status, kind)
  if (typeof allowed !== 'boolean' || typeof reason !== 'string')
    throw new Error(`the webhook's ${kind} has a status whose fields are of other types`)
  return {
    allowed,
    reason,
    auditAnnotations: Object.fromEntries(
      Object.entries(fieldsOf(auditAnnotations, kind)).map(([key, value]) => [key, String(value)]),
    ),
  }
}
