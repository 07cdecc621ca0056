/** Authenticates requests. Wrong credentials are 401; none at all are `system:anonymous`. */
import { after } from '../../../lib/flow/after.ts'
import { unauthorized } from '../../../machinery/status-error.ts'
import { type Authenticator, anonymous, type Verdict } from '../../authentication/authenticator.ts'
import type { Authentication } from '../../authentication/index.ts'
import type { Request } from '../../http/exchange.ts'
import { hideIdentityHeaders } from '../../outgoing/forward/identity-headers.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { WrappingFilter } from '../filter.ts'
import type { AuthenticationMetrics } from './authentication-metrics.ts'

export const authentication =
  (
    { authenticators, isIdentityHeader }: Pick<Authentication, 'authenticators' | 'isIdentityHeader'>,
    metrics: AuthenticationMetrics,
  ): WrappingFilter =>
  (request, next) => {
    const started = performance.now()
    return after(verdictOf(authenticators, request), (verdict) => {
      const took = performance.now() - started
      if (verdict === 'invalid' || verdict === 'nobody') {
        metrics(verdict === 'invalid' ? 'error' : 'failure', took)
        throw unauthorized()
      }
      request.user = verdict ?? anonymous
      metrics('success', took, request.user.name)
      if (isIdentityHeader) hideIdentityHeaders(request, isIdentityHeader)
      return next(request)
    })
  }

/** The first user that an authenticator returns; otherwise the first rejection. */
function verdictOf(authenticators: readonly Authenticator[], request: Request, from = 0): Verdict | Promise<Verdict> {
  let refused: Verdict
  for (let i = from; i < authenticators.length; i++) {
    const verdict = authenticators[i]!(request)
    if (verdict instanceof Promise) {
      const before = refused
      return verdict.then((known) =>
        isUser(known)
          ? known
          : after(verdictOf(authenticators, request, i + 1), (later) =>
              isUser(later) ? later : (before ?? known ?? later),
            ),
      )
    }
    if (isUser(verdict)) return verdict
    refused ??= verdict
  }
  return refused
}

const isUser = (verdict: Verdict): verdict is UserInfo => typeof verdict === 'object'
