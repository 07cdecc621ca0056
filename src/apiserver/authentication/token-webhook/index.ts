/**
 * Webhook token authentication: an external server verifies tokens in TokenReviews over HTTPS. Its answers are cached.
 */
import { readKubeconfig } from '../../../kubeconfig/read-kubeconfig.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import { connectionClient, type ReviewVersion, withRetries } from '../../outgoing/webhooks/index.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import type { TokenCacheMetrics } from '../tokens/cache-metrics.ts'
import { cachedTokens } from '../tokens/cached-tokens.ts'
import { loggedTokens } from '../tokens/logged-tokens.ts'
import { type ReviewStatus, reviewBody, reviewStatus } from './review.ts'

/** As the flags `--authentication-token-webhook-…`. */
export interface TokenWebhookOptions {
  readonly kubeconfigFile: string
  readonly version: ReviewVersion
  /** The time in ms that answers are cached. */
  readonly cacheMs: number
}

export interface TokenWebhookSources {
  readonly places: ServiceSources
  readonly tokenCache: TokenCacheMetrics
  readonly log: (line: string) => void
}

const timeoutMs = 30_000
const maxBytes = 1024 * 1024
/** The minimum time in ms that users are cached, as in all token authenticators that call other servers. */
const knownMs = 10_000

/**
 * `own` are the server's audiences, assumed if the webhook returns none. Rejects with an ExplainedError for an unusable
 * kubeconfig.
 */
export async function tokenWebhook(
  { kubeconfigFile, version, cacheMs }: TokenWebhookOptions,
  own: readonly string[],
  { places, tokenCache: metrics, log }: TokenWebhookSources,
): Promise<TokenAuthenticator> {
  const client = connectionClient(await readKubeconfig(kubeconfigFile), { sources: places, timeoutMs, maxBytes })
  const stopping = new AbortController()
  const authenticator: TokenAuthenticator = {
    name: 'webhook',
    async authenticate(token, audiences) {
      const body = reviewBody(version, token, audiences)
      try {
        return verdictOf(
          await withRetries(async () => reviewStatus(version, await client.post(body)), { signal: stopping.signal }),
          audiences,
          own,
        )
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log(`Failed to make webhook authenticator request: ${reason}`)
        return { refused: reason }
      }
    },
    stop() {
      stopping.abort()
      client.stop()
    },
  }
  return cachedTokens(loggedTokens(authenticator, log), {
    knownMs: Math.max(cacheMs, knownMs),
    unknownMs: cacheMs,
    metrics,
  })
}

function verdictOf(
  { authenticated, user, audiences, error }: ReviewStatus,
  requested: readonly string[],
  own: readonly string[],
): TokenVerdict {
  const accepted = audiences.length > 0 ? audiences : own
  const common = requested.filter((audience) => accepted.includes(audience))
  if (requested.length > 0 && common.length === 0) return undefined
  if (!authenticated) return error ? { refused: error } : undefined
  return { user, audiences: common }
}
