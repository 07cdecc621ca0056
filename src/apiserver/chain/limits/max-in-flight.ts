/**
 * Limits the number of requests in progress, reads and writes separately, if priority and fairness is off. Long-running
 * requests are not counted, and system:masters is never rejected.
 */
import { settle } from '../../../lib/flow/settle.ts'
import { isMutating } from '../../flow-control/index.ts'
import type { WrappingFilter } from '../filter.ts'
import { isLongRunning } from '../lifetime/long-running.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import { tooManyRequests } from './too-many-requests.ts'

export interface InFlightLimits {
  /** Reads; 0 for no limit. */
  readonly readOnly: number
  /** Writes; 0 for no limit. */
  readonly mutating: number
}

const retryAfterSeconds = 1

/** `dropped` is called for each rejected request. */
export function maxInFlight(
  limits: InFlightLimits,
  dropped: (kind: keyof InFlightLimits) => void,
  metrics: Pick<RequestMetrics, 'terminated'>,
): WrappingFilter {
  const running = { readOnly: 0, mutating: 0 }
  return (request, next) => {
    if (isLongRunning(request.info)) return next(request)
    const kind = isMutating(request.info.verb) ? 'mutating' : 'readOnly'
    const limit = limits[kind]
    if (limit === 0) return next(request)
    if (running[kind] >= limit) {
      if (request.user?.groups.includes('system:masters')) return next(request)
      dropped(kind)
      return tooManyRequests(request, metrics, retryAfterSeconds)
    }
    running[kind]++
    return settle(
      () => next(request),
      (response) => {
        running[kind]--
        return response
      },
      (error) => {
        running[kind]--
        throw error
      },
    )
  }
}
