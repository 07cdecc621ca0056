/** A fault that a test orders: which requests it hits, and what happens to them. */
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbidden,
  internal,
  notFound,
  objectModified,
  requestTimeout,
  StatusError,
  tooManyRequests,
  unauthorized,
} from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'
import type { Fields } from '../request/bodies/decode-fields.ts'
import { matchFields, type RequestMatch } from './request-match.ts'

/** The effect on a request. Without `code`, `lose` and `expire`, it is only delayed. */
export interface FaultEffect {
  /** The request fails with this status, 400 to 599, and is not executed: 401 as for an expired token. */
  readonly code?: number
  /** Default: Kubernetes' reason for the code. */
  readonly reason?: string
  readonly message?: string
  /** The header `Retry-After`. Default: 1 for code 429, otherwise none. */
  readonly retryAfterSeconds?: number
  /** The connection breaks before the request is executed, or after it, so that only the response is lost. */
  readonly lose?: 'request' | 'response'
  /** The revision is compacted: a watch ends with an ERROR event 410, another request with a status 410. */
  readonly expire?: boolean
  /** Time before the rest happens, in ms. */
  readonly latencyMs?: number
}

/** A fault for the requests that match. */
export interface FaultRule extends RequestMatch, FaultEffect {
  /** Number of requests that it hits; 0 for all. Default: 1. */
  readonly times?: number
  /** Number of matching requests that pass before. Default: 0. */
  readonly skip?: number
}

export const faultFields: Fields = {
  ...Object.fromEntries(matchFields.map((name) => [name, 'string' as const])),
  code: 'number',
  reason: 'string',
  message: 'string',
  retryAfterSeconds: 'number',
  lose: 'string',
  expire: 'boolean',
  latencyMs: 'number',
  times: 'number',
  skip: 'number',
}

const maxLatencyMs = 60_000

/** Throws 400 for a rule that has no effect, or several, and for numbers out of range. */
export function checkRule({ code, lose, expire, latencyMs, times = 1, skip = 0 }: FaultRule): void {
  const effects = [code, lose, expire].filter((effect) => effect !== undefined && effect !== false).length
  if (effects > 1) throw badRequest('A fault has one of code, lose and expire: add several faults instead.')
  if (effects === 0 && !latencyMs) throw badRequest('A fault needs code, lose, expire or latencyMs.')
  if (code !== undefined && !(Number.isInteger(code) && code >= 400 && code <= 599))
    throw badRequest(`code must be from 400 to 599, not ${code}.`)
  if (lose !== undefined && lose !== 'request' && lose !== 'response')
    throw badRequest(`lose must be request or response, not ${JSON.stringify(lose)}.`)
  if (latencyMs !== undefined && !(latencyMs >= 0 && latencyMs <= maxLatencyMs))
    throw badRequest(`latencyMs must be from 0 to ${maxLatencyMs}, not ${latencyMs}.`)
  for (const [name, value] of Object.entries({ times, skip })) {
    if (!Number.isInteger(value) || value < 0)
      throw badRequest(`${name} must be a whole number from 0 on, not ${value}.`)
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  503: 'ServiceUnavailable',
}

/** Returns the error of a code as the server itself would answer with it, and with the given parts replaced. */
export function faultError(
  effect: FaultEffect & { readonly code: number },
  request: Request,
  name: string,
): StatusError {
  const { reason, message, retryAfterSeconds } = effect
  const { status } = usualError(effect.code, request, name)
  const details = { ...status.details, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  return new StatusError(effect.code, reason ?? status.reason, message ?? status.message ?? '', details)
}

function usualError(code: number, { info }: Request, name: string): StatusError {
  const resource = { group: info.group, name: info.resource }
  switch (code) {
    case 401:
      return unauthorized()
    case 403:
      return forbidden(resource, name, 'a fault of the test')
    case 404:
      return notFound(resource, name)
    case 409:
      return info.verb === 'create' ? alreadyExists(resource, name) : conflict(resource, name, objectModified)
    case 410:
      return expired()
    case 429:
      return tooManyRequests('Too many requests, please try again later.', 1)
    case 500:
      return internal('Internal error occurred: a fault of the test')
    case 504:
      return requestTimeout()
    default:
      return new StatusError(code, reasons[code], `the server answered with ${code}: a fault of the test`)
  }
}
