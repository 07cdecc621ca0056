/** The ways of saying who one is, in the order in which they are tried. */
import { type Authenticator, refuseAnonymous } from './authenticator.ts'
import { clientCertificate } from './client-certificate.ts'
import { type RequestHeaderOptions, requestHeader } from './request-header.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'
import { bearerTokens, webSocketTokens } from './tokens/request-tokens.ts'
import { staticTokens, type TokenUser } from './tokens/static-tokens.ts'
import { TokenAuthentication } from './tokens/token-authentication.ts'

export interface AuthenticationOptions {
  /** Front proxies that may say who a user is. */
  readonly requestHeader?: RequestHeaderOptions
  /** PEM bundle that client certificates are checked against. */
  readonly clientCA?: string
  readonly tokens?: readonly TokenUser[]
  /** Whom tokens must be meant for (`--api-audiences`); the issuers of service account tokens unless said. */
  readonly apiAudiences?: readonly string[]
  /** Whether requests without credentials are let through as `system:anonymous`; true unless said. */
  readonly anonymousAuth?: boolean
}

export interface Authentication {
  readonly authenticators: readonly Authenticator[]
  /** All who know tokens: TokenReviews ask them too. */
  readonly tokens: TokenAuthentication
}

export function authenticationOf(options: AuthenticationOptions): Authentication {
  const { requestHeader: header, clientCA, anonymousAuth = true } = options
  const tokens = new TokenAuthentication(tokenAuthenticators(options), options.apiAudiences ?? [])
  return {
    tokens,
    authenticators: [
      ...(header ? [requestHeader(header)] : []),
      ...(clientCA ? [clientCertificate(clientCA)] : []),
      bearerTokens(tokens),
      webSocketTokens(tokens),
      ...(anonymousAuth ? [] : [refuseAnonymous]),
    ],
  }
}

/** Who knows which tokens, in upstream's order: those that cost least first. */
const tokenAuthenticators = ({ tokens = [] }: AuthenticationOptions): readonly TokenAuthenticator[] => [staticTokens(tokens)]
