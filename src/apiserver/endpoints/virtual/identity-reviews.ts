/** TokenReview (whose token is this?) and SelfSubjectReview (who am I?). */
import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest } from '../../../machinery/status-error.ts'
import type { UserInfo } from '../../http/exchange.ts'
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

export const tokenReview = review<TokenReview>(async (question, { services }) => {
  const token = question.spec?.token
  if (!token) throw badRequest('token is required for TokenReview in authentication')
  const user = await services.authenticateToken(token)
  question.status = user ? { authenticated: true, user: shown(user) } : { user: {}, error: 'invalid bearer token' }
})

export const selfSubjectReview = review<SelfSubjectReview>((question, { request }) => {
  question.status = { userInfo: shown(request.user!) }
})
