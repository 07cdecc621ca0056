/** Authorizers say whether a user may do what a request asks for. */
import type { UserInfo } from '../http/exchange.ts'
import type { RequestInfo } from '../request/request-info.ts'

export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string }

/** What is decided on: a request, or the question of an access review. */
export interface AccessAttributes {
  readonly user?: UserInfo
  readonly info: RequestInfo
}

export type Authorizer = (attributes: AccessAttributes) => Decision | Promise<Decision>

const allowed: Decision = { allowed: true }
const denied: Decision = { allowed: false, reason: '' }

/** Open to everybody, as upstream's role `system:public-info-viewer` has it. */
const publicPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])

/** Every authenticated user may do everything; anonymous ones see health and version. */
export const authenticatedOnly: Authorizer = ({ user, info }) =>
  user && !user.groups.includes('system:unauthenticated')
    ? allowed
    : !info.isResourceRequest && info.verb === 'get' && publicPaths.has(info.path)
      ? allowed
      : denied

/** `--authorization-mode=AlwaysAllow`: everybody may do everything, anonymous users too. */
export const alwaysAllow: Authorizer = () => allowed

/** `--authorization-mode=AlwaysDeny`: nobody may do anything, but for members of system:masters, as upstream. */
export const alwaysDeny: Authorizer = ({ user }) => (user?.groups.includes('system:masters') ? allowed : { allowed: false, reason: 'Everything is forbidden.' })
