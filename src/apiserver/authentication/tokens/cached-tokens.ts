/**
 * Keeps for some time what a token authenticator that has to ask others has said. Nobody is asked about one token twice
 * at once.
 */
import { createHash } from 'node:crypto'
import { AnswerCache } from '../../outgoing/webhooks/answer-cache.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import type { TokenCacheMetrics } from './cache-metrics.ts'

export interface CachedTokensOptions {
  /** How long a user holds, ms. */
  readonly knownMs: number
  /** How long it holds that nobody knows the token, ms; refusals with a reason are never kept. 0 unless said. */
  readonly unknownMs?: number
  readonly metrics: TokenCacheMetrics
  /** Ms, on any clock that goes forward. */
  readonly now?: () => number
}

/** More tokens are not kept: those that were not used for the longest go. */
const mostKept = 4096

const unknown = Symbol('nobody knows the token')

/** Tokens are kept as digests: memory holds no secrets. */
export function cachedTokens(
  authenticator: TokenAuthenticator,
  { knownMs, unknownMs = 0, metrics, now }: CachedTokensOptions,
): TokenAuthenticator {
  const kept = new AnswerCache<TokenVerdict | typeof unknown>(mostKept, now)
  const asked = new Map<string, Promise<TokenVerdict>>()
  const keep = (key: string, verdict: TokenVerdict): TokenVerdict => {
    if (!verdict) kept.set(key, unknown, unknownMs)
    else if (!('refused' in verdict)) kept.set(key, verdict, knownMs)
    return verdict
  }
  /** Asks for the first who wants to know; the others wait with it. */
  const fetch = (key: string, token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict> => {
    const pending = asked.get(key)
    if (pending) return pending
    metrics.asking()
    const verdict = authenticator.authenticate(token, audiences)
    const told = (verdict: TokenVerdict): TokenVerdict => {
      metrics.asked(verdict && 'refused' in verdict ? 'error' : 'ok')
      return keep(key, verdict)
    }
    if (!(verdict instanceof Promise)) return told(verdict)
    const failed = (error: unknown): never => {
      metrics.asked('error')
      throw error
    }
    const answered = verdict.then(told, failed).finally(() => asked.delete(key))
    asked.set(key, answered)
    return answered
  }
  return {
    name: authenticator.name,
    authenticate(token, audiences) {
      const start = performance.now()
      const key = createHash('sha256').update(JSON.stringify(audiences)).update('\n').update(token).digest('base64')
      const found = kept.get(key)
      if (found !== undefined) {
        metrics.answered('hit', start)
        return found === unknown ? undefined : found
      }
      metrics.waiting(1)
      const told = (): void => {
        metrics.waiting(-1)
        metrics.answered('miss', start)
      }
      const verdict = fetch(key, token, audiences)
      if (verdict instanceof Promise) return verdict.finally(told)
      told()
      return verdict
    },
    start: () => authenticator.start?.() ?? Promise.resolve(),
    stop: () => authenticator.stop?.(),
  }
}
