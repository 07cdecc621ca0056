/** The SubjectAccessReview that is sent to the webhook, and its answer. */
import { fieldsOf, type ReviewVersion, reviewIn } from '../../outgoing/webhooks/index.ts'
import type { AccessAttributes, SelectorRequirement } from '../authorizer.ts'

export interface Selector {
  readonly requirements: readonly SelectorRequirement[]
}

export interface ResourceAttributes {
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

/** The spec as JSON, without empty fields. */
export interface ReviewSpec {
  readonly resourceAttributes?: ResourceAttributes
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

/** In v1beta1 the field `groups` is named `group`. */
export function reviewBody(version: ReviewVersion, spec: ReviewSpec): Buffer {
  const { groups, ...rest } = spec
  const encodedSpec = version === 'v1' ? spec : { ...rest, ...(groups && { group: groups }) }
  return Buffer.from(
    JSON.stringify({
      kind: 'SubjectAccessReview',
      apiVersion: `authorization.k8s.io/${version}`,
      metadata: {},
      spec: encodedSpec,
      status: { allowed: false },
    }),
  )
}

/** Throws an Error for an answer that is not a SubjectAccessReview. */
export function reviewStatus(version: ReviewVersion, answer: Buffer): ReviewStatus {
  const { status = {} } = reviewIn(answer, 'SubjectAccessReview', `authorization.k8s.io/${version}`)
  const { allowed = false, denied = false, reason = '' } = fieldsOf(status, 'SubjectAccessReviewStatus')
  if (typeof allowed !== 'boolean' || typeof denied !== 'boolean' || typeof reason !== 'string') {
    throw new Error("the webhook's SubjectAccessReview has a status whose fields are of other types")
  }
  return { allowed, denied, reason }
}
