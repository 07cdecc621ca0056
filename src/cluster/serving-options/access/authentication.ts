/**
 * The authentication flags `--client-ca-file`, `--token-auth-file`, `--requestheader-…` and `--service-account-…`.
 * Those of other token issuers are in `token-issuers.ts`.
 */
import { resolve } from 'node:path'
import type { AuthenticationOptions } from '../../../apiserver/authentication/index.ts'
import type { ServiceAccountIssuer } from '../../../apiserver/authentication/service-accounts/index.ts'
import { certificatesOf } from '../../../apiserver/certificates/signed-by.ts'
import type { FlagValues } from '../../../apiserver/serving-flags/index.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { fileValue } from '../../../lib/files/file-value.ts'
import { type GoUrl, parseUrl, UrlError } from '../../../machinery/values/go-url.ts'
import { readFrontProxy } from '../../credentials/front-proxy-files.ts'
import { readAuthorities, readIdentity } from '../../credentials/identity-files.ts'
import { readSigningKey, readVerificationKeys } from '../../credentials/service-account-keys.ts'
import type { KeyPair } from '../../pki/key-pair.ts'
import { type FlagContext, pathOf } from '../flag-context.ts'
import { jwtErrors, jwtOptions, tokenWebhookErrors, tokenWebhookOptions } from './token-issuers.ts'

const anHourMs = 3_600_000
const longestMs = 2 ** 32 * 1000

/** Returns upstream's errors for invalid values; empty if there are none. */
export function authenticationErrors(flags: FlagValues): string[] {
  const longest = flags.durationMs('service-account-max-token-expiration') ?? 0
  const issuers = flags.list('service-account-issuer') ?? []
  return [
    ...jwtErrors(flags),
    ...tokenWebhookErrors(flags),
    ...issuers.flatMap(issuerErrors),
    ...keySetErrors(flags.text('service-account-jwks-uri') ?? ''),
    ...(longest !== 0 && (longest < anHourMs || longest > longestMs)
      ? ['the service-account-max-token-expiration must be between 1 hour and 2^32 seconds']
      : []),
  ]
}

const overlapping =
  '--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; ' +
  '--requestheader-allowed-names must be specified to ensure regular client certificates cannot set ' +
  'authenticating proxy headers for arbitrary users'

function overlap(one: string, other: string): boolean {
  const known = new Set(certificatesOf(one).map(({ fingerprint256 }) => fingerprint256))
  return certificatesOf(other).some(({ fingerprint256 }) => known.has(fingerprint256))
}

function issuerErrors(issuer: string, at: number, all: readonly string[]): string[] {
  if (issuer === '') return ['service-account-issuer should not be an empty string']
  const url = issuer.includes(':') ? urlOf(issuer) : undefined
  if (typeof url === 'string')
    return [`service-account-issuer ${JSON.stringify(issuer)} contained a ':' but was not a valid URL: ${url}`]
  return all.indexOf(issuer) < at ? [`service-account-issuer ${JSON.stringify(issuer)} is already specified`] : []
}

function keySetErrors(uri: string): string[] {
  if (uri === '') return []
  const url = urlOf(uri)
  if (typeof url === 'string') return [`service-account-jwks-uri must be a valid URL: ${url}`]
  return url.scheme === 'https' ? [] : [`service-account-jwks-uri requires https scheme, parsed as: ${uri}`]
}

/** Parses a URL; returns the error message if it is invalid. */
function urlOf(text: string): GoUrl | string {
  try {
    return parseUrl(text)
  } catch (error) {
    if (error instanceof UrlError) return error.message
    throw error
  }
}

/** Result of `authenticationOptions`: the issuer's name and key may be missing. */
export type FlaggedAuthentication = Omit<AuthenticationOptions, 'serviceAccount'> & {
  readonly proxyClient?: KeyPair
  readonly serviceAccount: Partial<ServiceAccountIssuer>
}

/** Contains only what flags set. Throws an ExplainedError for files that cannot be read. */
export function authenticationOptions(context: FlagContext): FlaggedAuthentication {
  const { flags, log } = context
  const basicAuthFile = pathOf(context, 'basic-auth-file')
  if (basicAuthFile)
    log(
      '--basic-auth-file: Kubernetes dropped passwords in 1.19, as they are sent with each request; they are ' +
        'accepted here',
    )
  const { tokens, passwords } = readIdentity({ tokenAuthFile: pathOf(context, 'token-auth-file'), basicAuthFile })
  const authorities = authoritiesOf(context, 'requestheader-client-ca-file')
  const { requestHeader, proxyClient } = readFrontProxy({
    requestheaderClientCaFile: pathOf(context, 'requestheader-client-ca-file'),
    requestheaderAllowedNames: flags.list('requestheader-allowed-names'),
    requestheaderUsernameHeaders: flags.list('requestheader-username-headers'),
    requestheaderUidHeaders: flags.list('requestheader-uid-headers'),
    requestheaderGroupHeaders: flags.list('requestheader-group-headers'),
    requestheaderExtraHeadersPrefix: flags.list('requestheader-extra-headers-prefix'),
    proxyClientCertFile: pathOf(context, 'proxy-client-cert-file'),
    proxyClientKeyFile: pathOf(context, 'proxy-client-key-file'),
  })
  const clientCA = authoritiesOf(context, 'client-ca-file')
  if (
    clientCA &&
    authorities &&
    !flags.list('requestheader-allowed-names')?.length &&
    overlap(clientCA(), authorities())
  )
    throw new ExplainedError(overlapping)
  const apiAudiences = flags.list('api-audiences')
  const bootstrapTokens = flags.bool('enable-bootstrap-token-auth')
  // As upstream: with AlwaysAllow, anonymous requests are off.
  const anonymousAuth = flags.list('authorization-mode')?.includes('AlwaysAllow') ? false : flags.bool('anonymous-auth')
  const jwt = jwtOptions(context)
  const tokenWebhook = tokenWebhookOptions(context)
  return {
    ...(jwt && { jwt }),
    ...(tokenWebhook && { tokenWebhook }),
    ...(tokens && { tokens }),
    ...(passwords && { passwords }),
    ...(clientCA && { clientCA }),
    ...(requestHeader && authorities && { requestHeader: { ...requestHeader, clientCA: authorities } }),
    ...(proxyClient && { proxyClient }),
    ...(apiAudiences?.length && { apiAudiences }),
    ...(bootstrapTokens !== undefined && { bootstrapTokens }),
    ...(anonymousAuth !== undefined && { anonymousAuth }),
    serviceAccount: issuerOptions(context),
  }
}

/** The authorities in the file of a flag, reloaded when it changes. */
function authoritiesOf(context: FlagContext, flag: string): (() => string) | undefined {
  const file = pathOf(context, flag)
  return file
    ? fileValue({ paths: [file], read: () => readAuthorities(file, `--${flag}`), log: context.log })
    : undefined
}

/** The issuer of service account tokens, as far as flags define it. */
function issuerOptions(context: FlagContext): Partial<ServiceAccountIssuer> {
  const { flags, cwd, log } = context
  const file = pathOf(context, 'service-account-signing-key-file')
  const key = file ? readSigningKey(file) : undefined
  const paths = flags.list('service-account-key-file')?.map((name) => resolve(cwd, name))
  if (paths?.length && !key) {
    log(
      '--service-account-key-file without --service-account-signing-key-file: new tokens are signed with a key ' +
        'that these files need not hold; give both',
    )
  }
  const issuers = flags.list('service-account-issuer')
  const longestMs = flags.durationMs('service-account-max-token-expiration')
  const extendsExpiration = flags.bool('service-account-extend-token-expiration')
  const looksUp = flags.bool('service-account-lookup')
  const jwksUri = flags.text('service-account-jwks-uri')
  return {
    ...(issuers?.length && { issuers }),
    ...(key && { signingKey: async () => key }),
    ...(paths?.length && { verificationKeys: fileValue({ paths, read: () => readVerificationKeys(paths), log }) }),
    ...(longestMs && { maxExpirationSeconds: Math.floor(longestMs / 1000) }),
    ...(extendsExpiration !== undefined && { extendsExpiration }),
    ...(looksUp !== undefined && { requiresSecret: looksUp }),
    ...(jwksUri && { jwksUri }),
  }
}
