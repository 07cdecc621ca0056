/** Authenticates tokens of OpenID providers (`--oidc-…`, `jwt[]` of an AuthenticationConfiguration). */
import { type JsonWebToken, parseToken } from '../service-accounts/json-web-token.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import { ClaimError, claimMapper } from './claim-mapper.ts'
import { DistributedClaims } from './distributed-claims.ts'
import type { JwtIssuer } from './jwt-issuer.ts'
import type { JwtMetrics } from './metrics.ts'
import { issuerOf, OpenIdProvider } from './provider.ts'

export interface JwtAuthenticatorOptions {
  /** The accepted signing algorithms. */
  readonly algorithms: readonly string[]
  readonly metrics: JwtMetrics
  readonly log: (line: string) => void
  /** Ms since 1970. */
  readonly now?: () => number
  /** The delay in ms before an unreachable provider is retried. */
  readonly retryMs?: number
}

export interface JwtAuthenticator extends TokenAuthenticator {
  /** The reason why it is not ready; undefined if it is. */
  readonly health: string | undefined
  /** Call when another authenticator replaces it. Pending tokens are still verified. */
  retire(): void
}

/** The issuer must have been validated. Its provider is contacted in the background after `start`. */
export function jwtAuthenticator(issuer: JwtIssuer, options: JwtAuthenticatorOptions): JwtAuthenticator {
  const { metrics, ...rest } = options
  const { url = '', discoveryURL, certificateAuthority: ca, audiences = [] } = issuer.issuer ?? {}
  const shared = { ...rest, audiences, ...(ca && { ca }) }
  const provider = new OpenIdProvider({
    ...shared,
    issuer: url,
    ...(discoveryURL && { discoveryUrl: discoveryURL }),
    fetched: (keys) => metrics.fetched(url, keys),
  })
  const groupsClaim = issuer.claimMappings?.groups?.claim
  const distributed = groupsClaim
    ? new DistributedClaims(groupsClaim, provider, (other) => new OpenIdProvider({ ...shared, issuer: other }))
    : undefined
  const userOf = claimMapper(issuer)

  async function verify(token: JsonWebToken): Promise<TokenVerdict> {
    const fault = await provider.fault(token)
    if (fault) return { refused: `oidc: verify token: ${fault}` }
    try {
      return { user: userOf(distributed ? await distributed.expanded(token.claims) : token.claims) }
    } catch (error) {
      if (error instanceof ClaimError) return { refused: error.message }
      throw error
    }
  }

  return {
    name: 'OpenID Connect',
    get health() {
      return provider.health
    },
    authenticate(token) {
      const parsed = parseToken(token)
      if (!parsed || issuerOf(parsed.claims) !== url) return undefined
      if (!provider.isReady) return { refused: 'oidc: authenticator not initialized' }
      const started = performance.now()
      return verify(parsed).then((verdict) => {
        metrics.verified(
          url,
          verdict && 'user' in verdict ? 'success' : 'failure',
          (performance.now() - started) / 1000,
        )
        return verdict
      })
    },
    async start() {
      void provider.start()
    },
    retire() {
      provider.retire()
      distributed?.retire()
    },
    stop() {
      provider.stop()
      distributed?.stop()
    },
  }
}
