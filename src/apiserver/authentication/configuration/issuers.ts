/** Combines the authenticators of several issuers into one. */

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
  /** The reasons why some issuers are not ready. */
  readonly faults: readonly string[]
  /** Call when other issuers replace these. Pending tokens are still verified. */
  retire(): void
  stop(): void
}

/** The time in ms that a verified token is cached. */
const knownMs = 10_000

/** The issuers must have been validated. */
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
