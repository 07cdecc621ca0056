/**
 * Caches the results of a token authenticator that calls other servers. Concurrent lookups of a token share one call.
 */
import { createHash } from 'node:crypto'
import { AnswerCache } from '../../outgoing/webhooks/answer-cache.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import type { TokenCacheMetrics } from './cache-metrics.ts'

export interface CachedTokensOptions {
  /** The time in ms that a user is cached. */
  readonly knownMs: number
  /** The time in ms that an unknown token is cached. Rejections with a reason are never cached. Default: 0. */
  readonly unknownMs?: number
  readonly metrics: TokenCacheMetrics
  /** In ms, of a monotonic clock. */
  readonly now?: () => number
}

/** The maximum number of cached tokens. The least recently used are dropped. */
const maxCached = 4096

const unknown = Symbol('unknown token')

/** Tokens are stored as digests: the cache holds no secrets. */
export function cachedTokens(
  authenticator: TokenAuthenticator,
  { knownMs, unknownMs = 0, metrics, now }: CachedTokensOptions,
): TokenAuthenticator {
  const cache = new AnswerCache<TokenVerdict | typeof unknown>(maxCached, now)
  const pendingFetches = new Map<string, Promise<TokenVerdict>>()
  const cacheVerdict = (key: string, verdict: TokenVerdict): TokenVerdict => {
    if (!verdict) cache.set(key, unknown, unknownMs)
    else if (!('refused' in verdict)) cache.set(key, verdict, knownMs)
    return verdict
  }
  /** Calls the authenticator. Concurrent lookups share the call. */
  const fetch = (key: string, token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict> => {
    const pending = pendingFetches.get(key)
    if (pending) return pending
    metrics.fetchStarted()
    const verdict = authenticator.authenticate(token, audiences)
    const complete = (verdict: TokenVerdict): TokenVerdict => {
      metrics.fetchEnded(verdict && 'refused' in verdict ? 'error' : 'ok')
      return cacheVerdict(key, verdict)
    }
    if (!(verdict instanceof Promise)) return complete(verdict)
    const fail = (error: unknown): never => {
      metrics.fetchEnded('error')
      throw error
    }
    const result = verdict.then(complete, fail).finally(() => pendingFetches.delete(key))
    pendingFetches.set(key, result)
    return result
  }
  return {
    name: authenticator.name,
    authenticate(token, audiences) {
      const started = performance.now()
      const key = createHash('sha256').update(JSON.stringify(audiences)).update('\n').update(token).digest('base64')
      const found = cache.get(key)
      if (found !== undefined) {
        metrics.answered('hit', started)
        return found === unknown ? undefined : found
      }
      metrics.waiting(1)
      const observeMiss = (): void => {
        metrics.waiting(-1)
        metrics.answered('miss', started)
      }
      const verdict = fetch(key, token, audiences)
      if (verdict instanceof Promise) return verdict.finally(observeMiss)
      observeMiss()
      return verdict
    },
    start: () => authenticator.start?.() ?? Promise.resolve(),
    stop: () => authenticator.stop?.(),
  }
}
