/** The flags of other token issuers: `--oidc-…`, `--authentication-config`, `--authentication-token-webhook-…`. */
import { readFileSync } from 'node:fs'
import type { JwtOptions } from '../../../apiserver/authentication/jwt-tokens.ts'
import type { TokenWebhookOptions } from '../../../apiserver/authentication/token-webhook/index.ts'
import type { FlagValues } from '../../../apiserver/serving-flags/index.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { type FlagContext, pathOf } from '../flag-context.ts'

const isOidc = (name: string): boolean => name.startsWith('oidc-')

/** Returns upstream's errors for an invalid choice of issuers; empty if there are none. */
export function jwtErrors(flags: FlagValues): string[] {
  const hasOidc = flags.given.some(({ name }) => isOidc(name))
  const isWhole = Boolean(flags.text('oidc-issuer-url') && flags.text('oidc-client-id'))
  if (flags.text('authentication-config'))
    return hasOidc ? ['authentication-config file and oidc-* flags are mutually exclusive'] : []
  return hasOidc && !isWhole
    ? ['oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set']
    : []
}

/** Undefined if no flag names an issuer. Throws an ExplainedError for a file that cannot be read. */
export function jwtOptions(context: FlagContext): JwtOptions | undefined {
  const { flags } = context
  const file = pathOf(context, 'authentication-config')
  if (file) return { file, anonymousFlag: flags.bool('anonymous-auth') !== undefined }
  const url = flags.text('oidc-issuer-url')
  const audience = flags.text('oidc-client-id')
  if (!url || !audience) return undefined
  const claim = flags.text('oidc-username-claim') ?? 'sub'
  const groupsClaim = flags.text('oidc-groups-claim')
  const caFile = pathOf(context, 'oidc-ca-file')
  const algorithms = flags.list('oidc-signing-algs') ?? []
  return {
    algorithms: algorithms.length > 0 ? algorithms : ['RS256'],
    issuer: {
      issuer: { url, audiences: [audience], ...(caFile && { certificateAuthority: readText(caFile) }) },
      claimMappings: {
        username: { claim, prefix: usernamePrefix(flags.text('oidc-username-prefix') ?? '', claim, url) },
        ...(groupsClaim && { groups: { claim: groupsClaim, prefix: flags.text('oidc-groups-prefix') ?? '' } }),
      },
      claimValidationRules: [...new Map(flags.pairs('oidc-required-claim'))].map(([claim, requiredValue]) => ({
        claim,
        requiredValue,
      })),
    },
  }
}

/**
 * User names of an issuer are prefixed with its URL to be unique, unless they are e-mail addresses or the flag is `-`.
 */
const usernamePrefix = (given: string, claim: string, issuer: string): string =>
  given === '-' ? '' : given === '' && claim !== 'email' ? `${issuer}#` : given

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; check --oidc-ca-file`, { cause: error })
  }
}

const usualCacheMs = 120_000
/** How long users are cached independent of the webhook's cache, in ms. */
const overallCacheMs = 10_000

/** Returns upstream's errors for an invalid webhook; empty if there are none. */
export function tokenWebhookErrors(flags: FlagValues): string[] {
  const version = flags.text('authentication-token-webhook-version') ?? 'v1beta1'
  return flags.text('authentication-token-webhook-config-file') && version !== 'v1' && version !== 'v1beta1'
    ? [`unsupported authentication webhook version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`]
    : []
}

/** Undefined if no flag names a webhook. */
export function tokenWebhookOptions(context: FlagContext): TokenWebhookOptions | undefined {
  const { flags, log } = context
  const kubeconfigFile = pathOf(context, 'authentication-token-webhook-config-file')
  if (!kubeconfigFile) return undefined
  const cacheMs = flags.durationMs('authentication-token-webhook-cache-ttl') ?? usualCacheMs
  if (cacheMs > 0 && cacheMs < overallCacheMs) {
    const ttl = flags.text('authentication-token-webhook-cache-ttl')
    log(
      `the webhook cache ttl of ${ttl} is shorter than the overall cache ttl of 10s for successful token ` +
        'authentication attempts.',
    )
  }
  return {
    kubeconfigFile,
    version: flags.text('authentication-token-webhook-version') === 'v1' ? 'v1' : 'v1beta1',
    cacheMs,
  }
}
