/** Combines all token authenticators: the first that knows a token decides. */
import { after } from '../../../lib/flow/after.ts'
import { authenticated } from '../authenticator.ts'
import type { TokenAuthenticator, TokenIdentity, TokenRefusal, TokenVerdict } from '../token-authenticator.ts'

/** Upstream's message for unknown tokens. */
export const invalidToken = 'invalid bearer token'

/** The user and audiences of a token. `audiences` is empty only if the server has none. */
export interface KnownToken extends TokenIdentity {
  readonly audiences: readonly string[]
}

export class TokenAuthentication {
  /** The audiences of the server (`--api-audiences`), assumed for tokens without audiences. */
  readonly audiences: readonly string[]
  readonly #authenticators: readonly TokenAuthenticator[]
  readonly #completed = new WeakMap<TokenIdentity, KnownToken>()

  constructor(authenticators: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#authenticators = authenticators
    this.audiences = audiences
  }

  /** Rejects if an authenticator cannot load its data. */
  async start(): Promise<void> {
    await Promise.all(this.#authenticators.map((authenticator) => authenticator.start?.()))
  }

  stop(): void {
    for (const authenticator of this.#authenticators) authenticator.stop?.()
  }

  /**
   * Rejects unknown tokens; several reasons are joined. `audiences` are the server's own unless a TokenReview lists
   * others.
   */
  authenticate(
    token: string,
    audiences: readonly string[] = this.audiences,
  ): KnownToken | TokenRefusal | Promise<KnownToken | TokenRefusal> {
    return this.#authenticateFrom(token, audiences, 0, [])
  }

  #authenticateFrom(
    token: string,
    audiences: readonly string[],
    from: number,
    refusals: readonly TokenRefusal[],
  ): KnownToken | TokenRefusal | Promise<KnownToken | TokenRefusal> {
    const authenticator = this.#authenticators[from]
    if (!authenticator) return joinRefusals(refusals)
    return after(authenticator.authenticate(token, audiences), (verdict: TokenVerdict) => {
      if (!verdict) return this.#authenticateFrom(token, audiences, from + 1, refusals)
      if ('refused' in verdict) return this.#authenticateFrom(token, audiences, from + 1, [...refusals, verdict])
      return this.#complete(verdict, audiences) ?? this.#authenticateFrom(token, audiences, from + 1, refusals)
    })
  }

  /** Returns undefined if the token is for none of the requested audiences. Completes each cached identity once. */
  #complete(identity: TokenIdentity, requested: readonly string[]): KnownToken | undefined {
    const known = this.#completed.get(identity)
    if (known && requested === this.audiences) return known
    const audiences = identity.audiences ?? this.audiences.filter((audience) => requested.includes(audience))
    if (audiences.length === 0 && requested.length > 0) return undefined
    const { user } = identity
    const completed = { ...identity, user: { ...user, groups: authenticated(user.groups) }, audiences }
    if (requested === this.audiences) this.#completed.set(identity, completed)
    return completed
  }
}

/** Joins reasons as Go joins errors. */
function joinRefusals(refusals: readonly TokenRefusal[]): TokenRefusal {
  if (refusals.length === 1) return refusals[0]!
  const reasons = [...new Set(refusals.map(({ refused }) => refused))]
  const refused = reasons.length > 1 ? `[${reasons.join(', ')}]` : (reasons[0] ?? invalidToken)
  const annotations = refusals.flatMap(({ annotations }) => Object.entries(annotations ?? {}))
  return { refused, annotations: Object.fromEntries(annotations) }
}
