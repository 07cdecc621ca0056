/** Authenticators: each knows one kind of credential and says nothing about requests without it. */
import type { Request } from '../http/exchange.ts'
import type { UserInfo } from '../request-info/user-info.ts'

/**
 * The user; `invalid` for credentials that do not hold; `nobody` where who shows none is not let in; undefined where
 * there are none of its kind.
 */
export type Verdict = UserInfo | 'invalid' | 'nobody' | undefined

export type Authenticator = (request: Request) => Verdict | Promise<Verdict>

export const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * Stands last where not everybody is let in: who has shown no credentials until then is refused, but on these paths.
 */
export const anonymousOnlyOn =
  (isOpen: (path: string) => boolean): Authenticator =>
  ({ path }) =>
    isOpen(path) ? undefined : 'nobody'

/** Adds the group of everybody who is authenticated, last, unless `system:unauthenticated` was given. */
export const authenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes('system:authenticated') || groups.includes('system:unauthenticated')
    ? groups
    : [...groups, 'system:authenticated']
