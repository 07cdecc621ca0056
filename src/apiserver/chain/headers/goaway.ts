/** Asks some HTTP/2 clients to reconnect, so that they spread over servers. Requests in progress continue. */
import { after } from '../../../lib/flow/after.ts'
import type { WrappingFilter } from '../filter.ts'

/** `chance`: the probability per request, 0 to 0.02. */
export const goaway =
  (chance: number, random: () => number = Math.random): WrappingFilter =>
  (request, next) => {
    if (request.protocol !== 'HTTP/2' || random() >= chance) return next(request)
    return after(next(request), (response) => {
      response.headers.connection = 'close'
      return response
    })
  }
