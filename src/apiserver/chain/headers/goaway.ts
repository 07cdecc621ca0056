/**
 * Tells some HTTP/2 clients to come again on another connection, so that they spread over servers. What is under way
 * goes on.
 */
import { after } from '../../../lib/flow/after.ts'
import type { Around } from '../filter.ts'

/** `chance`: of each request, 0 to 0.02. */
export const goaway =
  (chance: number, random: () => number = Math.random): Around =>
  (request, next) => {
    if (request.protocol !== 'HTTP/2' || random() >= chance) return next(request)
    return after(next(request), (response) => {
      response.headers.connection = 'close'
      return response
    })
  }
