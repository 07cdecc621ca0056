/** Sends clients away while the server ends: 429, and their connection with it. Probes and scrapers are answered to the end. */
import { text } from '../../http/exchange.ts'
import type { Around } from '../filter.ts'
import type { WaitGroup } from './wait-group.ts'

const exempt = ['/readyz', '/livez', '/healthz', '/metrics']

export const retryAfter =
  (group: WaitGroup): Around =>
  (request, next) => {
    if (!group.stopping || exempt.some((path) => request.path.startsWith(path)) || request.header('user-agent')?.startsWith('kube-apiserver/')) {
      return next(request)
    }
    return text(429, 'The apiserver is shutting down, please try again later.\n', { 'retry-after': '5', connection: 'close' })
  }
