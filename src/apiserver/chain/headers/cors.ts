/** Allows pages of some origins to use the API from a browser (fetch.spec.whatwg.org, CORS protocol). */
import { after } from '../../../lib/flow/after.ts'
import { linearRegexp } from '../../../lib/linear-regexp/index.ts'
import type { Response } from '../../http/exchange.ts'
import type { WrappingFilter } from '../filter.ts'

const methods = 'POST, GET, OPTIONS, PUT, DELETE, PATCH'
const allowedHeaders =
  'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since'

/** `origins` are regular expressions in Go's syntax. Throws RegexpSyntaxError. */
export function cors(origins: readonly string[]): WrappingFilter {
  const allowed = origins.map((origin) => linearRegexp(origin))
  return (request, next) => {
    const origin = request.header('origin')
    if (!origin || !allowed.some((expression) => expression.test(origin))) return next(request)
    // The browser's preflight request.
    if (request.method === 'OPTIONS') return allowing(origin, { status: 204, headers: {} })
    return after(next(request), (response) => allowing(origin, response))
  }
}

function allowing(origin: string, response: Response): Response {
  const { headers } = response
  headers['access-control-allow-origin'] = origin
  headers['access-control-allow-methods'] = methods
  headers['access-control-allow-headers'] = allowedHeaders
  headers['access-control-expose-headers'] = 'Date'
  headers['access-control-allow-credentials'] = 'true'
  return response
}
