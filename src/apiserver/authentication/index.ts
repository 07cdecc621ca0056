/** The ways of saying who one is, in the order in which they are tried. */
import { type Authenticator, refuseAnonymous } from './authenticator.ts'
import { clientCertificate } from './client-certificate.ts'
import { type RequestHeaderOptions, requestHeader } from './request-header.ts'
import { type TokenUser, tokenFile } from './token-file.ts'

export interface AuthenticationOptions {
  /** Front proxies that may say who a user is. */
  readonly requestHeader?: RequestHeaderOptions
  /** PEM bundle that client certificates are checked against. */
  readonly clientCA?: string
  readonly tokens?: readonly TokenUser[]
  /** Whether requests without credentials are let through as `system:anonymous`; true unless said. */
  readonly anonymousAuth?: boolean
}

export const authenticatorsOf = ({ requestHeader: header, clientCA, tokens = [], anonymousAuth = true }: AuthenticationOptions): readonly Authenticator[] => [
  ...(header ? [requestHeader(header)] : []),
  ...(clientCA ? [clientCertificate(clientCA)] : []),
  tokenFile(tokens),
  ...(anonymousAuth ? [] : [refuseAnonymous]),
]
