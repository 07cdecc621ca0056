/**
 * Tokens of OpenID providers, as flags or a configuration file name them. What they need is loaded only where there are
 * any.
 */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ConfiguredAuthentication } from './configuration/index.ts'
import type { JwtIssuer } from './oidc/jwt-issuer.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'
import type { TokenCacheMetrics } from './tokens/cache-metrics.ts'
import { lazyTokens } from './tokens/lazy-tokens.ts'

export type JwtOptions =
  /**
   * As `--authentication-config`. `anonymousFlag`: flags say something about requests without credentials, so that the
   * file may not.
   */
  | { readonly file: string; readonly anonymousFlag: boolean }
  /** As `--oidc-…`. */
  | { readonly issuer: JwtIssuer; readonly algorithms: readonly string[] }

export interface JwtTokens {
  readonly tokens: TokenAuthenticator
  /** Where requests without credentials are let in: undefined if no file says. To be asked when it has started. */
  anonymous(): ((path: string) => boolean) | undefined
}

export interface JwtSources {
  /** Issuers that are the server itself. */
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
