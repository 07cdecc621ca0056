/** The authenticators of a list of issuers, as one. */

import { type JwtAuthenticatorOptions, jwtAuthenticator } from '../oidc/index.ts'
import type { JwtIssuer } from '../oidc/jwt-issuer.ts'
import type { TokenAuthenticator } from '../token-authenticator.ts'
import type { TokenCacheMetrics } from '../tokens/cache-metrics.ts'
import { cachedTokens } from '../tokens/cached-tokens.ts'
import { firstOf } from '../tokens/first-of.ts'
import { loggedTokens } from '../tokens/logged-tokens.ts'

export interface IssuersOptions extends JwtAuthenticatorOptions {
  readonly tokenCache: TokenCacheMetrics
}

export interface Issuers extends TokenAuthenticator {
  /** What keeps some of them from judging tokens. */
  readonly faults: readonly string[]
  /** Others have taken their place. Tokens that are being judged are judged. */
  retire(): void
  stop(): void
}

/** Users hold for this long without a look at their token, ms. */
const knownMs = 10_000

/** Of issuers that have been validated. */
export function issuerTokens(jwt: readonly JwtIssuer[], options: IssuersOptions): Issuers {
  const authenticators = jwt.map((issuer) => jwtAuthenticator(issuer, options))
  const tokens = cachedTokens(loggedTokens(firstOf('OpenID Connect', authenticators), options.log), {
    knownMs,
    metrics: options.tokenCache,
  })
  return {
    name: tokens.name,
    get faults() {
      return authenticators.flatMap(({ health }) => health ?? [])
    },
    authenticate: (token, audiences) => tokens.authenticate(token, audiences),
    start: () => tokens.start?.() ?? Promise.resolve(),
    stop: () => tokens.stop?.(),
    retire() {
      for (const each of authenticators) each.retire()
    },
  }
}
