/** What clients are told that come when there are too many requests: 429 in plain text, and when to come again. */
import { type Response, text } from '../../http/exchange.ts'

export const tooManyRequestsText = (retryAfterSeconds: number): Response =>
  text(429, 'Too many requests, please try again later.\n', { 'retry-after': String(retryAfterSeconds) })
