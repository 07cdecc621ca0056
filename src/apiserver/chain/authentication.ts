/** Finds out who is asking. Wrong credentials are 401; none at all are `system:anonymous`. */
import { unauthorized } from '../../machinery/status-error.ts'
import type { Authenticator } from '../authentication/authenticator.ts'
import { anonymous } from '../authentication/authenticator.ts'
import type { Filter } from './filter.ts'

export const authentication =
  (authenticators: readonly Authenticator[]): Filter =>
  async (request, next) => {
    let refused = false
    for (const authenticate of authenticators) {
      const verdict = authenticate(request)
      const result = verdict instanceof Promise ? await verdict : verdict
      if (result === 'invalid') refused = true
      else if (result) {
        request.user = result
        return next(request)
      }
    }
    if (refused) throw unauthorized()
    request.user = anonymous
    return next(request)
  }
