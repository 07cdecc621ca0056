/**
 * Token authenticators: each knows one kind of bearer token. Requests, WebSockets and TokenReviews ask the same ones,
 * one after the other.
 */
import type { UserInfo } from '../request-info/user-info.ts'

export interface TokenIdentity {
  readonly user: UserInfo
  /** Those of the asked audiences that the token is meant for; absent where tokens of this kind know none. */
  readonly audiences?: readonly string[]
  /** For the audit event of the request, by key: `authentication.k8s.io/stale-token`. */
  readonly annotations?: Readonly<Record<string, string>>
  /** For the Warning headers of the answer. */
  readonly warnings?: readonly string[]
}

/** A token that does not hold, with why for the log and for TokenReviews. */
export interface TokenRefusal {
  readonly refused: string
  /** As those of who is let in. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Undefined for tokens of another kind. */
export type TokenVerdict = TokenIdentity | TokenRefusal | undefined

export interface TokenAuthenticator {
  readonly name: string
  /**
   * `audiences` are those that the token has to be meant for, one of them at least; the server's own unless a review
   * says others.
   */
  authenticate(token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict>
  /** Reads what it decides by; resolves when it may be asked. */
  start?(): Promise<void>
  stop?(): void
}
