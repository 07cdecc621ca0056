/** Passwords (RFC 7617) from `--basic-auth-file`. Upstream removed them in 1.19. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../request-info/user-info.ts'
import { type Authenticator, authenticated } from './authenticator.ts'

export interface PasswordUser {
  readonly password: string
  readonly user: UserInfo
}

/** Digests have equal lengths, so that comparing them reveals nothing about the password. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A wrong password and an unknown user are 401, after the same time. */
export function passwords(users: readonly PasswordUser[]): Authenticator {
  const known = new Map(
    users.map(({ password, user }) => [
      user.name,
      { digest: digest(password), user: { ...user, groups: authenticated(user.groups) } },
    ]),
  )
  const unknownUser = { digest: Buffer.alloc(32), user: undefined }
  return (request) => {
    const header = request.header('authorization')
    if (header?.slice(0, 6).toLowerCase() !== 'basic ') return undefined
    const text = Buffer.from(header.slice(6), 'base64').toString()
    const end = text.indexOf(':')
    // Upstream treats a text without a colon as no credentials.
    if (end < 0) return undefined
    const account = known.get(text.slice(0, end)) ?? unknownUser
    const holds = timingSafeEqual(digest(text.slice(end + 1)), account.digest)
    return holds && account.user ? account.user : 'invalid'
  }
}
