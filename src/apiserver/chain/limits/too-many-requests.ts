/** The response to a client when there are too many requests: 429 in plain text, with Retry-After. */
import { type Request, type Response, text } from '../../http/exchange.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'

const code = 429

export function tooManyRequests(
  request: Request,
  metrics: Pick<RequestMetrics, 'terminated'>,
  retryAfterSeconds: number,
): Response {
  metrics.terminated(request, code)
  return text(code, 'Too many requests, please try again later.\n', { 'retry-after': String(retryAfterSeconds) })
}
