/** All token authenticators as one: the first that knows a token says whose it is. */
import { after } from '../../../lib/flow/after.ts'
import { authenticated } from '../authenticator.ts'
import type { TokenAuthenticator, TokenIdentity, TokenRefusal, TokenVerdict } from '../token-authenticator.ts'

/** What upstream says about tokens that nobody knows. */
export const invalidToken = 'invalid bearer token'

/** Whose a token is, and for whom it is meant: `audiences` are empty only where the server has none. */
export interface KnownToken extends TokenIdentity {
  readonly audiences: readonly string[]
}

export class TokenAuthentication {
  /** The server's own (`--api-audiences`). Tokens that know no audiences are meant for these. */
  readonly audiences: readonly string[]
  readonly #authenticators: readonly TokenAuthenticator[]
  readonly #completed = new WeakMap<TokenIdentity, KnownToken>()

  constructor(authenticators: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#authenticators = authenticators
    this.audiences = audiences
  }

  /** Rejects when an authenticator cannot read what it decides by. */
  async start(): Promise<void> {
    await Promise.all(this.#authenticators.map((authenticator) => authenticator.start?.()))
  }

  stop(): void {
    for (const authenticator of this.#authenticators) authenticator.stop?.()
  }

  /**
   * Refuses what nobody knows; the reasons of several are told together. `audiences` are the server's own unless a
   * review asks for others.
   */
  authenticate(
    token: string,
    audiences: readonly string[] = this.audiences,
  ): KnownToken | TokenRefusal | Promise<KnownToken | TokenRefusal> {
    return this.#ask(token, audiences, 0, [])
  }

  #ask(
    token: string,
    audiences: readonly string[],
    from: number,
    refusals: readonly TokenRefusal[],
  ): KnownToken | TokenRefusal | Promise<KnownToken | TokenRefusal> {
    const authenticator = this.#authenticators[from]
    if (!authenticator) return together(refusals)
    return after(authenticator.authenticate(token, audiences), (verdict: TokenVerdict) => {
      if (!verdict) return this.#ask(token, audiences, from + 1, refusals)
      if ('refused' in verdict) return this.#ask(token, audiences, from + 1, [...refusals, verdict])
      return this.#complete(verdict, audiences) ?? this.#ask(token, audiences, from + 1, refusals)
    })
  }

  /**
   * Undefined where nobody whom the review asks about is meant. Identities that are kept by their authenticator are
   * completed once.
   */
  #complete(identity: TokenIdentity, asked: readonly string[]): KnownToken | undefined {
    const known = this.#completed.get(identity)
    if (known && asked === this.audiences) return known
    const audiences = identity.audiences ?? this.audiences.filter((audience) => asked.includes(audience))
    if (audiences.length === 0 && asked.length > 0) return undefined
    const { user } = identity
    const completed = { ...identity, user: { ...user, groups: authenticated(user.groups) }, audiences }
    if (asked === this.audiences) this.#completed.set(identity, completed)
    return completed
  }
}

/** Reasons as Go tells several errors. */
function together(refusals: readonly TokenRefusal[]): TokenRefusal {
  if (refusals.length === 1) return refusals[0]!
  const reasons = [...new Set(refusals.map(({ refused }) => refused))]
  const refused = reasons.length > 1 ? `[${reasons.join(', ')}]` : (reasons[0] ?? invalidToken)
  const annotations = refusals.flatMap(({ annotations }) => Object.entries(annotations ?? {}))
  return { refused, annotations: Object.fromEntries(annotations) }
}
