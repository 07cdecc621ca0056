/** Tokens of OpenID providers: whose they are (`--oidc-…`, `jwt[]` of an AuthenticationConfiguration). */
import { type JsonWebToken, parseToken } from '../service-accounts/json-web-token.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import { ClaimError, claimMapper } from './claim-mapper.ts'
import { DistributedClaims } from './distributed-claims.ts'
import type { JwtIssuer } from './jwt-issuer.ts'
import type { JwtMetrics } from './metrics.ts'
import { issuerOf, OpenIdProvider } from './provider.ts'

export interface JwtAuthenticatorOptions {
  /** How tokens may be signed. */
  readonly algorithms: readonly string[]
  readonly metrics: JwtMetrics
  readonly log: (line: string) => void
  /** Ms since 1970. */
  readonly now?: () => number
  /** How long to wait before a provider that cannot be reached is asked again, ms. */
  readonly retryMs?: number
}

export interface JwtAuthenticator extends TokenAuthenticator {
  /** What keeps it from judging tokens; undefined when nothing does. */
  readonly health: string | undefined
  /** Another one has taken its place. Tokens that are being judged are judged. */
  retire(): void
}

/** Of an issuer that has been validated. Its provider is asked in the background, from `start` on. */
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

  async function judge(token: JsonWebToken): Promise<TokenVerdict> {
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
      return judge(parsed).then((verdict) => {
        metrics.judged(url, verdict && 'user' in verdict ? 'success' : 'failure', (performance.now() - started) / 1000)
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
