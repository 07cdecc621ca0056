/** TokenReview (authenticates a token) and SelfSubjectReview (the current user). */
import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest } from '../../../machinery/status-error.ts'
import { bearerToken } from '../../authentication/tokens/request-tokens.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { review } from './review.ts'

interface TokenReview extends KubeObject {
  spec?: { token?: string; audiences?: string[] }
  status?: { authenticated?: boolean; user?: Record<string, unknown>; error?: string; audiences?: string[] }
}

interface SelfSubjectReview extends KubeObject {
  status?: { userInfo: Record<string, unknown> }
}

/** A user in the format of the API. */
const shown = ({ name, uid, groups, extra }: UserInfo): Record<string, unknown> => ({
  username: name,
  ...(uid && { uid }),
  ...(groups.length && { groups }),
  ...(extra && Object.keys(extra).length && { extra }),
})

export const tokenReview = review<TokenReview>(async (question, { services: { tokens } }) => {
  const { token, audiences } = question.spec ?? {}
  if (!token) throw badRequest('token is required for TokenReview in authentication')
  // Upstream uses an Authorization header: a token that is invalid there is rejected here too.
  const bearer = bearerToken(`Bearer ${token}`)
  if (!bearer) {
    question.status = { user: {} }
    return
  }
  const known = await tokens.authenticate(bearer, audiences?.length ? audiences : undefined)
  question.status =
    'refused' in known
      ? { user: {}, error: known.refused }
      : {
          authenticated: true,
          user: shown(known.user),
          ...(known.audiences.length > 0 && { audiences: [...known.audiences] }),
        }
})

export const selfSubjectReview = review<SelfSubjectReview>((question, { request }) => {
  question.status = { userInfo: shown(request.user!) }
})
