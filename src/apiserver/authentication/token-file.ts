/** Static bearer tokens, as `--token-auth-file` lists them. */
import type { UserInfo } from '../http/exchange.ts'
import { type Authenticator, authenticated } from './authenticator.ts'

/** A line of the token file. */
export interface TokenUser {
  readonly token: string
  readonly user: UserInfo
}

/** The token of an Authorization header: one space after `Bearer`, in any case; other schemes have no token. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header?.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = header.slice(7)
  return token === '' || token.startsWith(' ') ? undefined : token.trim()
}

export function tokenFile(users: readonly TokenUser[]): Authenticator {
  const known = new Map(users.map(({ token, user }) => [token, { ...user, groups: authenticated(user.groups) }]))
  return (request) => {
    const token = bearerToken(request.header('authorization'))
    return token === undefined ? undefined : (known.get(token) ?? 'invalid')
  }
}
