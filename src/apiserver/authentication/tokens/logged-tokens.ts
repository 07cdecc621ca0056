/** Tells the log why tokens are refused: whoever sends one learns no more than that it is. */
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'

/** Lines at once, and how long until there may be one more, ms: anybody can send tokens that do not hold. */
const mostLines = 20
const lineMs = 1000

export function loggedTokens(
  authenticator: TokenAuthenticator,
  log: (line: string) => void,
  now: () => number = () => performance.now(),
): TokenAuthenticator {
  let lines = mostLines
  let countedAt = now()
  const tell = (verdict: TokenVerdict): TokenVerdict => {
    if (!verdict || !('refused' in verdict)) return verdict
    const at = now()
    lines = Math.min(mostLines, lines + (at - countedAt) / lineMs)
    countedAt = at
    if (lines >= 1) {
      lines--
      log(`Unable to authenticate the request: ${verdict.refused}`)
    }
    return verdict
  }
  return {
    name: authenticator.name,
    authenticate(token, audiences) {
      const verdict = authenticator.authenticate(token, audiences)
      return verdict instanceof Promise ? verdict.then(tell) : tell(verdict)
    },
    start: () => authenticator.start?.() ?? Promise.resolve(),
    stop: () => authenticator.stop?.(),
  }
}
