/** The SubjectAccessReview that a webhook is asked with, and what it answers. */
import type { ReviewVersion } from '../../webhooks/index.ts'
import type { AccessAttributes, SelectorRequirement } from '../authorizer.ts'

interface Selector {
  readonly requirements: readonly SelectorRequirement[]
}

/** As JSON; what is empty is left out. */
export interface ReviewSpec {
  readonly resourceAttributes?: {
    readonly namespace?: string
    readonly verb?: string
    readonly group?: string
    readonly version?: string
    readonly resource?: string
    readonly subresource?: string
    readonly name?: string
    readonly fieldSelector?: Selector
    readonly labelSelector?: Selector
  }
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly uid?: string
}

export interface ReviewStatus {
  readonly allowed: boolean
  readonly denied: boolean
  readonly reason: string
}

export function reviewSpec({ user, info, fieldSelector, labelSelector }: AccessAttributes): ReviewSpec {
  const { isResourceRequest, path, verb, group, version, namespace, resource, subresource, name } = info
  return {
    ...(isResourceRequest
      ? {
          resourceAttributes: {
            ...(namespace && { namespace }),
            ...(verb && { verb }),
            ...(group && { group }),
            ...(version && { version }),
            ...(resource && { resource }),
            ...(subresource && { subresource }),
            ...(name && { name }),
            ...(fieldSelector?.length && { fieldSelector: { requirements: fieldSelector } }),
            ...(labelSelector?.length && { labelSelector: { requirements: labelSelector } }),
          },
        }
      : { nonResourceAttributes: { ...(path && { path }), ...(verb && { verb }) } }),
    ...(user?.name && { user: user.name }),
    ...(user?.groups.length && { groups: user.groups }),
    ...(user?.extra && { extra: user.extra }),
    ...(user?.uid && { uid: user.uid }),
  }
}

/** In v1beta1, groups are called `group`. */
export function reviewBody(version: ReviewVersion, spec: ReviewSpec): Buffer {
  const { groups, ...rest } = spec
  const said = version === 'v1' ? spec : { ...rest, ...(groups && { group: groups }) }
  return Buffer.from(
    JSON.stringify({
      kind: 'SubjectAccessReview',
      apiVersion: `authorization.k8s.io/${version}`,
      metadata: {},
      spec: said,
      status: { allowed: false },
    }),
  )
}

/** Throws an Error for an answer that is no review. */
export function reviewStatus(version: ReviewVersion, answer: Buffer): ReviewStatus {
  const review = fieldsOf(parse(answer), 'SubjectAccessReview')
  const { kind, apiVersion } = review
  if (kind !== 'SubjectAccessReview' || apiVersion !== `authorization.k8s.io/${version}`) {
    throw new Error(
      `the webhook answered with kind ${JSON.stringify(kind ?? '')} of ${JSON.stringify(apiVersion ?? '')}, not with a SubjectAccessReview of authorization.k8s.io/${version}`,
    )
  }
  const { allowed = false, denied = false, reason = '' } = fieldsOf(review.status ?? {}, 'SubjectAccessReviewStatus')
  if (typeof allowed !== 'boolean' || typeof denied !== 'boolean' || typeof reason !== 'string') {
    throw new Error("the webhook's SubjectAccessReview has a status whose fields are of other types")
  }
  return { allowed, denied, reason }
}

function parse(answer: Buffer): unknown {
  try {
    return JSON.parse(answer.toString())
  } catch (error) {
    throw new Error(`the webhook's answer is no JSON: ${error instanceof Error ? error.message : error}`)
  }
}

function fieldsOf(value: unknown, type: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  throw new Error(`the webhook's answer is no ${type}`)
}
