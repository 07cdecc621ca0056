/**
 * Sends clients away while the server ends: 429, and their connection with it. Probes and scrapers are answered to the
 * end.
 */
import { text } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import type { Around } from '../filter.ts'
import { isServedToTheEnd } from './served-to-the-end.ts'

export const retryAfter =
  (group: WaitGroup): Around =>
  (request, next) => {
    if (!group.stopping || isServedToTheEnd(request)) return next(request)
    return text(429, 'The apiserver is shutting down, please try again later.\n', {
      'retry-after': '5',
      connection: 'close',
    })
  }
