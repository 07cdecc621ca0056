/** Combines several token authenticators of one kind. */
import { after } from '../../../lib/flow/after.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'

/** The first authenticator that knows a token decides. Otherwise all reasons are returned. */
export function firstOf(name: string, authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  const from = (
    index: number,
    token: string,
    audiences: readonly string[],
    refusals: readonly string[],
  ): TokenVerdict | Promise<TokenVerdict> => {
    const authenticator = authenticators[index]
    if (!authenticator)
      return refusals.length === 0
        ? undefined
        : { refused: refusals.length === 1 ? refusals[0]! : `[${refusals.join(', ')}]` }
    return after(authenticator.authenticate(token, audiences), (verdict) => {
      if (verdict && !('refused' in verdict)) return verdict
      return from(index + 1, token, audiences, verdict ? [...refusals, verdict.refused] : refusals)
    })
  }
  return {
    name,
    authenticate: (token, audiences) => from(0, token, audiences, []),
    async start() {
      await Promise.all(authenticators.map((each) => each.start?.()))
    },
    stop() {
      for (const each of authenticators) each.stop?.()
    },
  }
}
