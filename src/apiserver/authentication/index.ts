/** The authentication methods, in the order in which they are tried. */

import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Bundle } from '../certificates/signed-by.ts'
import type { ServiceSources } from '../outgoing/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { type Authenticator, anonymousOnlyOn } from './authenticator.ts'
import { clientCertificate } from './client-certificate.ts'
import { remainingLife, tokenUses } from './credential-metrics.ts'
import { type JwtOptions, type JwtTokens, jwtTokens } from './jwt-tokens.ts'
import { type PasswordUser, passwords } from './passwords.ts'
import { identityHeaders, type RequestHeaderOptions, requestHeader } from './request-header.ts'
import { lookupIn, type ServiceAccountIssuer, ServiceAccountTokens } from './service-accounts/index.ts'
import { secretLabels } from './service-accounts/secret-labels.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'
import type { TokenWebhookOptions } from './token-webhook/index.ts'
import { bootstrapTokens } from './tokens/bootstrap-tokens.ts'
import { type TokenCacheMetrics, tokenCacheMetrics } from './tokens/cache-metrics.ts'
import { lazyTokens } from './tokens/lazy-tokens.ts'
import { bearerTokens, webSocketTokens } from './tokens/request-tokens.ts'
import { staticTokens, type TokenUser } from './tokens/static-tokens.ts'
import { TokenAuthentication } from './tokens/token-authentication.ts'

export interface AuthenticationOptions {
  /** Front proxies that may set the user in headers. */
  readonly requestHeader?: RequestHeaderOptions
  /** The CA of client certificates. */
  readonly clientCA?: Bundle
  readonly tokens?: readonly TokenUser[]
  /** Users with a password (`--basic-auth-file`). */
  readonly passwords?: readonly PasswordUser[]
  /** Accepts Secrets of type bootstrap.kubernetes.io/token. Default: false. */
  readonly bootstrapTokens?: boolean
  /** The issuer of service account tokens. Without it there are none. */
  readonly serviceAccount?: ServiceAccountIssuer
  /** OpenID providers whose tokens are accepted. */
  readonly jwt?: JwtOptions
  /** A webhook that verifies tokens. */
  readonly tokenWebhook?: TokenWebhookOptions
  /** The audiences of the server (`--api-audiences`). Default: the issuers of service account tokens. */
  readonly apiAudiences?: readonly string[]
  /** Accepts requests without credentials as `system:anonymous`, on all or some paths. Default: true. */
  readonly anonymousAuth?: boolean | { readonly paths: readonly string[] }
}

export interface Authentication {
  /** True if there are users with passwords. */
  readonly hasPasswords: boolean
  readonly authenticators: readonly Authenticator[]
  readonly isIdentityHeader: ((name: string) => boolean) | undefined
  /** All token authenticators. TokenReviews use them too. */
  readonly tokens: TokenAuthentication
  /** Creates service account tokens; undefined without an issuer. */
  readonly serviceAccounts: ServiceAccountTokens | undefined
}

/** The dependencies of authenticators. */
export interface AuthenticationSources {
  readonly registry: Registry
  /** Returns a built-in resource by its key: `v1/secrets`. */
  readonly find: (key: string) => ServedResource
  /** The writer of the server itself. */
  readonly writer: Writer
  readonly places: ServiceSources
  readonly metrics: MetricsRegistry
  readonly log: (line: string) => void
}

export function authenticationOf(options: AuthenticationOptions, sources: AuthenticationSources): Authentication {
  const issuer = options.serviceAccount
  const audiences = options.apiAudiences?.length ? options.apiAudiences : (issuer?.issuers ?? [])
  const tokenSources = { ...sources, audiences, tokenCache: tokenCacheMetrics(sources.metrics) }
  const serviceAccounts = issuer && serviceAccountTokens(issuer, tokenSources)
  const jwt = options.jwt && jwtTokens(options.jwt, { ...tokenSources, disallowed: issuer?.issuers ?? [] })
  const tokens = new TokenAuthentication(
    tokenAuthenticators(options, tokenSources, serviceAccounts, jwt?.tokens),
    audiences,
  )
  return {
    tokens,
    serviceAccounts,
    isIdentityHeader: options.requestHeader && identityHeaders(options.requestHeader),
    hasPasswords: Boolean(options.passwords?.length),
    authenticators: present([
      options.requestHeader && frontProxy(options.requestHeader, sources),
      options.passwords?.length ? passwords(options.passwords) : undefined,
      options.clientCA ? certificateUsers(options.clientCA, sources) : undefined,
      bearerTokens(tokens),
      webSocketTokens(tokens),
      anonymousLimit(options, jwt),
    ]),
  }
}

interface TokenSources extends AuthenticationSources {
  /** The audiences of the server. */
  readonly audiences: readonly string[]
  readonly tokenCache: TokenCacheMetrics
}

const serviceAccountTokens = (issuer: ServiceAccountIssuer, sources: TokenSources): ServiceAccountTokens =>
  new ServiceAccountTokens({
    issuer,
    audiences: sources.audiences,
    lookup: lookupIn(sources.registry, sources.find),
    recordUse: secretLabels(sources),
    countUse: tokenUses(sources.metrics),
    now: () => sources.registry.clock.now(),
  })

/**
 * In upstream's order, the cheapest first: OpenID providers may need a request for keys, webhooks a request per token.
 */
function tokenAuthenticators(
  options: AuthenticationOptions,
  sources: TokenSources,
  serviceAccounts: TokenAuthenticator | undefined,
  jwt: TokenAuthenticator | undefined,
): readonly TokenAuthenticator[] {
  return present([
    staticTokens(options.tokens ?? []),
    serviceAccounts,
    options.bootstrapTokens ? bootstrapTokens(sources.registry, sources.find('v1/secrets')) : undefined,
    jwt,
    options.tokenWebhook && webhookTokens(options.tokenWebhook, sources),
  ])
}

const webhookTokens = (options: TokenWebhookOptions, sources: TokenSources): TokenAuthenticator =>
  lazyTokens('webhook', async () =>
    (await import('./token-webhook/index.ts')).tokenWebhook(options, sources.audiences, sources),
  )

const frontProxy = (options: RequestHeaderOptions, { registry: { features } }: AuthenticationSources): Authenticator =>
  requestHeader(features.isEnabled('RemoteRequestHeaderUID') ? options : { ...options, uidHeaders: [] })

const certificateUsers = (clientCA: Bundle, { registry: { features }, metrics }: AuthenticationSources) =>
  clientCertificate(clientCA, remainingLife(metrics), features.isEnabled('AllowParsingUserUIDFromCertAuth'))

/** Returns undefined if anonymous requests are allowed on all paths, and no file can restrict them. */
function anonymousLimit(
  { anonymousAuth = true, jwt: jwtOptions }: AuthenticationOptions,
  jwt: JwtTokens | undefined,
): Authenticator | undefined {
  const isConfiguredByFile = jwtOptions !== undefined && 'file' in jwtOptions
  if (anonymousAuth === true && !isConfiguredByFile) return undefined
  const isOpen = (path: string): boolean =>
    typeof anonymousAuth === 'boolean' ? anonymousAuth : anonymousAuth.paths.includes(path)
  return anonymousOnlyOn((path) => (jwt?.anonymous() ?? isOpen)(path))
}

const present = <Item>(items: readonly (Item | undefined)[]): Item[] => items.filter((item) => item !== undefined)
