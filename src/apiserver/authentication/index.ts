/** The ways of saying who one is, in the order in which they are tried. */

import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Bundle } from '../certificates/signed-by.ts'
import type { ServiceSources } from '../outgoing/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { type Authenticator, anonymousOnlyOn } from './authenticator.ts'
import { clientCertificate } from './client-certificate.ts'
import { remainingLife, tokenUses } from './credential-metrics.ts'
import { type JwtOptions, jwtTokens } from './jwt-tokens.ts'
import { type PasswordUser, passwords } from './passwords.ts'
import { identityHeaders, type RequestHeaderOptions, requestHeader } from './request-header.ts'
import { lookupIn, type ServiceAccountIssuer, ServiceAccountTokens } from './service-accounts/index.ts'
import { secretLabels } from './service-accounts/secret-labels.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'
import type { TokenWebhookOptions } from './token-webhook/index.ts'
import { bootstrapTokens } from './tokens/bootstrap-tokens.ts'
import { tokenCacheMetrics } from './tokens/cache-metrics.ts'
import { lazyTokens } from './tokens/lazy-tokens.ts'
import { bearerTokens, webSocketTokens } from './tokens/request-tokens.ts'
import { staticTokens, type TokenUser } from './tokens/static-tokens.ts'
import { TokenAuthentication } from './tokens/token-authentication.ts'

export interface AuthenticationOptions {
  /** Front proxies that may say who a user is. */
  readonly requestHeader?: RequestHeaderOptions
  /** What client certificates are checked against. */
  readonly clientCA?: Bundle
  readonly tokens?: readonly TokenUser[]
  /** Users with a password (`--basic-auth-file`). */
  readonly passwords?: readonly PasswordUser[]
  /** Whether Secrets of type bootstrap.kubernetes.io/token are accepted; false unless said. */
  readonly bootstrapTokens?: boolean
  /** Who issues tokens of service accounts; without it there are none. */
  readonly serviceAccount?: ServiceAccountIssuer
  /** OpenID providers whose tokens are accepted. */
  readonly jwt?: JwtOptions
  /** A webhook that knows tokens. */
  readonly tokenWebhook?: TokenWebhookOptions
  /** Whom tokens must be meant for (`--api-audiences`); the issuers of service account tokens unless said. */
  readonly apiAudiences?: readonly string[]
  /**
   * Whether requests without credentials are let through as `system:anonymous`, or on which paths; true unless said.
   */
  readonly anonymousAuth?: boolean | { readonly paths: readonly string[] }
}

export interface Authentication {
  /** True if users with passwords are known. */
  readonly hasPasswords: boolean
  readonly authenticators: readonly Authenticator[]
  readonly isIdentityHeader: ((name: string) => boolean) | undefined
  /** All who know tokens: TokenReviews ask them too. */
  readonly tokens: TokenAuthentication
  /** Who makes tokens of service accounts; undefined where nobody issues them. */
  readonly serviceAccounts: ServiceAccountTokens | undefined
}

/** What authenticators decide by, beside options. */
export interface AuthenticationSources {
  readonly registry: Registry
  /** A resource of Kubernetes' own by its key: `v1/secrets`. */
  readonly find: (key: string) => ServedResource
  /** The server's own hand. */
  readonly writer: Writer
  readonly places: ServiceSources
  readonly metrics: MetricsRegistry
  readonly log: (line: string) => void
}

export function authenticationOf(options: AuthenticationOptions, sources: AuthenticationSources): Authentication {
  const { features } = sources.registry
  const { requestHeader: header, clientCA, serviceAccount: issuer, anonymousAuth = true } = options
  const audiences = options.apiAudiences?.length ? options.apiAudiences : (issuer?.issuers ?? [])
  const lookup = lookupIn(sources.registry, sources.find)
  const serviceAccounts =
    issuer &&
    new ServiceAccountTokens({
      issuer,
      audiences,
      lookup,
      used: secretLabels(sources),
      counted: tokenUses(sources.metrics),
    })
  const tokenCache = tokenCacheMetrics(sources.metrics)
  const jwt = options.jwt && jwtTokens(options.jwt, { ...sources, tokenCache, disallowed: issuer?.issuers ?? [] })
  const { tokenWebhook: webhook } = options
  const open = (path: string): boolean =>
    anonymousAuth === true || anonymousAuth === false ? anonymousAuth : anonymousAuth.paths.includes(path)
  const isFiled = options.jwt !== undefined && 'file' in options.jwt
  // In upstream's order: those that cost least first. OpenID providers may have to be asked for keys, webhooks for
  // every token.
  const known: readonly TokenAuthenticator[] = [
    staticTokens(options.tokens ?? []),
    ...(serviceAccounts ? [serviceAccounts] : []),
    ...(options.bootstrapTokens ? [bootstrapTokens(sources.registry, sources.find('v1/secrets'))] : []),
    ...(jwt ? [jwt.tokens] : []),
    ...(webhook
      ? [
          lazyTokens('webhook', async () =>
            (await import('./token-webhook/index.ts')).tokenWebhook(webhook, audiences, { ...sources, tokenCache }),
          ),
        ]
      : []),
  ]
  const tokens = new TokenAuthentication(known, audiences)
  return {
    tokens,
    serviceAccounts,
    isIdentityHeader: header && identityHeaders(header),
    hasPasswords: Boolean(options.passwords?.length),
    authenticators: [
      ...(header
        ? [requestHeader(features.isEnabled('RemoteRequestHeaderUID') ? header : { ...header, uidHeaders: [] })]
        : []),
      ...(options.passwords?.length ? [passwords(options.passwords)] : []),
      ...(clientCA
        ? [
            clientCertificate(
              clientCA,
              remainingLife(sources.metrics),
              features.isEnabled('AllowParsingUserUIDFromCertAuth'),
            ),
          ]
        : []),
      bearerTokens(tokens),
      webSocketTokens(tokens),
      ...(anonymousAuth === true && !isFiled ? [] : [anonymousOnlyOn((path) => (jwt?.anonymous() ?? open)(path))]),
    ],
  }
}
