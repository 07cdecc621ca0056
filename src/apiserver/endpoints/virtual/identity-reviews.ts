/** TokenReview (whose token is this?) and SelfSubjectReview (who am I?). */
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

/** A user as the API shows one. */
const shown = ({ name, uid, groups, extra }: UserInfo): Record<string, unknown> => ({
  username: name,
  ...(uid && { uid }),
  ...(groups.length && { groups }),
  ...(extra && Object.keys(extra).length && { extra }),
})

export const tokenReview = review<TokenReview>(async (question, { services: { tokens } }) => {
  const { token, audiences } = question.spec ?? {}
  if (!token) throw badRequest('token is required for TokenReview in authentication')
  // Upstream asks by an Authorization header: what is no token there is none here.
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
