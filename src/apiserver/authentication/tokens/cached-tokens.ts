/** Keeps for some time what a token authenticator that has to ask others has said. Nobody is asked about one token twice at once. */
import { createHash } from 'node:crypto'
import { AnswerCache } from '../../webhooks/answer-cache.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'

export interface CachedTokensOptions {
  /** How long a user holds, ms. */
  readonly knownMs: number
  /** How long it holds that nobody knows the token, ms; refusals with a reason are never kept. 0 unless said. */
  readonly unknownMs?: number
  /** Ms, on any clock that goes forward. */
  readonly now?: () => number
}

/** More tokens are not kept: those that were not used for the longest go. */
const mostKept = 4096

const unknown = Symbol('nobody knows the token')

/** Tokens are kept as digests: memory holds no secrets. */
export function cachedTokens(authenticator: TokenAuthenticator, { knownMs, unknownMs = 0, now }: CachedTokensOptions): TokenAuthenticator {
  const kept = new AnswerCache<TokenVerdict | typeof unknown>(mostKept, now)
  const asked = new Map<string, Promise<TokenVerdict>>()
  const keep = (key: string, verdict: TokenVerdict): TokenVerdict => {
    if (!verdict) kept.set(key, unknown, unknownMs)
    else if (!('refused' in verdict)) kept.set(key, verdict, knownMs)
    return verdict
  }
  return {
    name: authenticator.name,
    authenticate(token, audiences) {
      const key = createHash('sha256').update(JSON.stringify(audiences)).update('\n').update(token).digest('base64')
      const found = kept.get(key)
      if (found !== undefined) return found === unknown ? undefined : found
      const pending = asked.get(key)
      if (pending) return pending
      const verdict = authenticator.authenticate(token, audiences)
      if (!(verdict instanceof Promise)) return keep(key, verdict)
      const answered = verdict.then((each) => keep(key, each)).finally(() => asked.delete(key))
      asked.set(key, answered)
      return answered
    },
    start: () => authenticator.start?.() ?? Promise.resolve(),
    stop: () => authenticator.stop?.(),
  }
}
