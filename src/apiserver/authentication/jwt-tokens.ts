/**
 * Tokens of OpenID providers, configured by flags or by a file. The implementation is loaded only if there are any.
 */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ConfiguredAuthentication } from './configuration/index.ts'
import type { JwtIssuer } from './oidc/jwt-issuer.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'
import type { TokenCacheMetrics } from './tokens/cache-metrics.ts'
import { lazyTokens } from './tokens/lazy-tokens.ts'

export type JwtOptions =
  /**
   * As `--authentication-config`. `anonymousFlag` is true if a flag configures anonymous authentication: the file must
   * not do so too.
   */
  | { readonly file: string; readonly anonymousFlag: boolean }
  /** As `--oidc-…`. */
  | { readonly issuer: JwtIssuer; readonly algorithms: readonly string[] }

export interface JwtTokens {
  readonly tokens: TokenAuthenticator
  /** Decides on anonymous requests by path; undefined if no file configures them. Call it after the start. */
  anonymous(): ((path: string) => boolean) | undefined
}

export interface JwtSources {
  /** Issuers that must not be configured: the server itself. */
  readonly disallowed: readonly string[]
  readonly metrics: MetricsRegistry
  readonly tokenCache: TokenCacheMetrics
  readonly log: (line: string) => void
}

export function jwtTokens(options: JwtOptions, sources: JwtSources): JwtTokens {
  let configured: ConfiguredAuthentication | undefined
  const tokens = lazyTokens('OpenID Connect', async () => {
    const { ConfiguredAuthentication, flaggedIssuer } = await import('./configuration/index.ts')
    if ('issuer' in options) return flaggedIssuer(options.issuer, options.algorithms, sources)
    configured = new ConfiguredAuthentication({ ...options, ...sources })
    return configured
  })
  return { tokens, anonymous: () => configured?.anonymous }
}
