/** Static bearer tokens of `--token-auth-file`. */
import type { UserInfo } from '../../request-info/user-info.ts'
import type { TokenAuthenticator } from '../token-authenticator.ts'

/** A line of the token file. */
export interface TokenUser {
  readonly token: string
  readonly user: UserInfo
}

export function staticTokens(users: readonly TokenUser[]): TokenAuthenticator {
  const known = new Map(users.map(({ token, user }) => [token, { user }]))
  return { name: 'token file', authenticate: (token) => known.get(token) }
}
