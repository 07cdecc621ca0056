/** Counts requests, their time and size. */
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { Filter } from './filter.ts'

export const requestMetricsFilter =
  (metrics: RequestMetrics): Filter =>
  async (request, next) => {
    metrics.begin(request)
    const response = await next(request)
    metrics.end(request, response)
    return response
  }
