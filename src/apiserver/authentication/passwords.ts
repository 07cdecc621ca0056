/** Passwords (RFC 7617), as `--basic-auth-file` lists them. Upstream dropped them in 1.19. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../request-info/user-info.ts'
import { type Authenticator, authenticated } from './authenticator.ts'

export interface PasswordUser {
  readonly password: string
  readonly user: UserInfo
}

/** Digests are equally long, and say nothing about how much of a password was right. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Wrong passwords and unknown users are 401, after the same time. */
export function passwords(users: readonly PasswordUser[]): Authenticator {
  const known = new Map(
    users.map(({ password, user }) => [
      user.name,
      { digest: digest(password), user: { ...user, groups: authenticated(user.groups) } },
    ]),
  )
  const nobody = { digest: Buffer.alloc(32), user: undefined }
  return (request) => {
    const header = request.header('authorization')
    if (header?.slice(0, 6).toLowerCase() !== 'basic ') return undefined
    const text = Buffer.from(header.slice(6), 'base64').toString()
    const end = text.indexOf(':')
    // Upstream takes what is no pair for no password at all.
    if (end < 0) return undefined
    const account = known.get(text.slice(0, end)) ?? nobody
    const holds = timingSafeEqual(digest(text.slice(end + 1)), account.digest)
    return holds && account.user ? account.user : 'invalid'
  }
}
