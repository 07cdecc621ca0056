/**
 * Token authenticators. Each handles one kind of bearer token. Requests, WebSockets and TokenReviews use the same ones,
 * one after the other.
 */
import type { UserInfo } from '../request-info/user-info.ts'

export interface TokenIdentity {
  readonly user: UserInfo
  /** The requested audiences that the token is for; undefined for kinds of tokens without audiences. */
  readonly audiences?: readonly string[]
  /** Annotations of the request's audit event, by key: `authentication.k8s.io/stale-token`. */
  readonly annotations?: Readonly<Record<string, string>>
  /** Texts of the response's Warning headers. */
  readonly warnings?: readonly string[]
}

/** A rejected token, with the reason for the log and for TokenReviews. */
export interface TokenRefusal {
  readonly refused: string
  /** Annotations of the request's audit event. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Undefined for tokens of another kind. */
export type TokenVerdict = TokenIdentity | TokenRefusal | undefined

export interface TokenAuthenticator {
  readonly name: string
  /**
   * `audiences`: the token must be for at least one of them. They are the server's own unless a TokenReview lists
   * others.
   */
  authenticate(token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict>
  /** Loads the required data; resolves when tokens can be authenticated. */
  start?(): Promise<void>
  stop?(): void
}
