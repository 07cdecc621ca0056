/** Counts requests, their time and size. */
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { Filter } from './filter.ts'

export const requestMetricsFilter = (metrics: RequestMetrics): Filter => ({
  begin: (request) => metrics.begin(request),
  answered(request, response) {
    metrics.end(request, response)
    return response
  },
})
