/**
 * Answers 429 while the server shuts down, and closes the client's connection. Probes and scrapers are answered until
 * the end.
 */
import { text } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import type { WrappingFilter } from '../filter.ts'
import { isServedDuringShutdown } from './shutdown-requests.ts'

export const retryAfter =
  (group: WaitGroup): WrappingFilter =>
  (request, next) => {
    if (!group.stopping || isServedDuringShutdown(request)) return next(request)
    return text(429, 'The apiserver is shutting down, please try again later.\n', {
      'retry-after': '5',
      connection: 'close',
    })
  }
