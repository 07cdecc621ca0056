/** Authenticators. Each handles one kind of credential and ignores requests without it. */
import type { Request } from '../http/exchange.ts'
import type { UserInfo } from '../request-info/user-info.ts'

/**
 * The user; `invalid` for invalid credentials; `nobody` if credentials are required but missing; undefined if the
 * request has no credentials of this kind.
 */
export type Verdict = UserInfo | 'invalid' | 'nobody' | undefined

export type Authenticator = (request: Request) => Verdict | Promise<Verdict>

export const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * The last authenticator if anonymous requests are restricted: requests without credentials are rejected, except on
 * these paths.
 */
export const anonymousOnlyOn =
  (isOpen: (path: string) => boolean): Authenticator =>
  ({ path }) =>
    isOpen(path) ? undefined : 'nobody'

/** Appends the group system:authenticated, unless the groups include `system:unauthenticated`. */
export const authenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes('system:authenticated') || groups.includes('system:unauthenticated')
    ? groups
    : [...groups, 'system:authenticated']
