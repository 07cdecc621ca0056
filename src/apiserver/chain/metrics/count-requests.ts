/** Counts requests, their time and size. */

import type { Filter } from '../filter.ts'
import type { RequestMetrics } from './request-metrics.ts'

export const requestMetricsFilter = (metrics: RequestMetrics): Filter => ({
  begin: (request) => metrics.begin(request),
  answered(request, response) {
    metrics.end(request, response)
    return response
  },
})
