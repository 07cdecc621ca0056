/** Finds out who is asking. Wrong credentials are 401; none at all are `system:anonymous`. */
import { after } from '../../../lib/flow/after.ts'
import { unauthorized } from '../../../machinery/status-error.ts'
import { type Authenticator, anonymous, type Verdict } from '../../authentication/authenticator.ts'
import type { Authentication } from '../../authentication/index.ts'
import type { Request } from '../../http/exchange.ts'
import type { Around } from '../filter.ts'

export const authentication =
  ({ authenticators, isIdentityHeader }: Pick<Authentication, 'authenticators' | 'isIdentityHeader'>): Around =>
  (request, next) =>
    after(verdictOf(authenticators, request), (verdict) => {
      if (verdict === 'invalid') throw unauthorized()
      request.user = verdict ?? anonymous
      if (isIdentityHeader) request.isIdentityHeader = isIdentityHeader
      return next(request)
    })

/** The first user that an authenticator tells; `invalid` if there is none and one refused. */
function verdictOf(authenticators: readonly Authenticator[], request: Request, from = 0): Verdict | Promise<Verdict> {
  let refused: Verdict
  for (let i = from; i < authenticators.length; i++) {
    const verdict = authenticators[i]!(request)
    if (verdict instanceof Promise) {
      const before = refused
      return verdict.then((known) =>
        known && known !== 'invalid' ? known : after(verdictOf(authenticators, request, i + 1), (later) => later ?? known ?? before),
      )
    }
    if (verdict && verdict !== 'invalid') return verdict
    refused ??= verdict
  }
  return refused
}
