/** The TokenReview that is sent to the webhook, and its answer. */

import { fieldsOf, type ReviewVersion, reviewIn } from '../../outgoing/webhooks/index.ts'
import type { UserInfo } from '../../request-info/user-info.ts'

export interface ReviewStatus {
  readonly authenticated: boolean
  readonly user: UserInfo
  readonly audiences: readonly string[]
  readonly error: string
}

export const reviewBody = (version: ReviewVersion, token: string, audiences: readonly string[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      kind: 'TokenReview',
      apiVersion: `authentication.k8s.io/${version}`,
      metadata: {},
      spec: { token, ...(audiences.length > 0 && { audiences }) },
      status: { user: {} },
    }),
  )

/** Throws an Error for an answer that is not a TokenReview. */
export function reviewStatus(version: ReviewVersion, answer: Buffer): ReviewStatus {
  const { status = {} } = reviewIn(answer, 'TokenReview', `authentication.k8s.io/${version}`)
  const { authenticated = false, user = {}, audiences, error = '' } = fieldsOf(status, 'TokenReviewStatus')
  const { username = '', uid = '', groups, extra = {} } = fieldsOf(user, 'UserInfo')
  if (
    typeof authenticated !== 'boolean' ||
    typeof error !== 'string' ||
    typeof username !== 'string' ||
    typeof uid !== 'string'
  ) {
    throw new Error("the webhook's TokenReview has a status whose fields are of other types")
  }
  const extras = Object.entries(fieldsOf(extra, 'UserInfo')).map(([key, values]) => [key, textsOf(values)] as const)
  return {
    authenticated,
    user: {
      name: username,
      groups: textsOf(groups),
      ...(uid && { uid }),
      ...(extras.length > 0 && { extra: Object.fromEntries(extras) }),
    },
    audiences: textsOf(audiences),
    error,
  }
}

function textsOf(value: unknown): readonly string[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string')) return value
  throw new Error("the webhook's TokenReview has a status with lists of something else than texts")
}
