/** Logs the reasons of rejected tokens. The client only gets a 401 without a reason. */
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'

/** The burst of log lines, and the time in ms to regain one: anybody can send invalid tokens. */
const maxBurstLines = 20
const lineMs = 1000

export function loggedTokens(
  authenticator: TokenAuthenticator,
  log: (line: string) => void,
  now: () => number = () => performance.now(),
): TokenAuthenticator {
  let lines = maxBurstLines
  let countedAt = now()
  const logRejection = (verdict: TokenVerdict): TokenVerdict => {
    if (!verdict || !('refused' in verdict)) return verdict
    const at = now()
    lines = Math.min(maxBurstLines, lines + (at - countedAt) / lineMs)
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
      return verdict instanceof Promise ? verdict.then(logRejection) : logRejection(verdict)
    },
    start: () => authenticator.start?.() ?? Promise.resolve(),
    stop: () => authenticator.stop?.(),
  }
}
