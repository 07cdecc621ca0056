/** Turns what was thrown behind it into a Status; errors nobody foresaw are logged with their stack and answered with 500. */
import { internal, StatusError, statusOf } from '../../machinery/status-error.ts'
import { RequestTooLargeError, StoreFailedError } from '../../storage/store.ts'
import type { StoreHealth } from '../health/store-health.ts'
import { errorResponse } from '../negotiation/error-response.ts'
import type { Filter } from './filter.ts'

export const panicRecovery =
  (log: (line: string) => void, store: StoreHealth): Filter =>
  async (request, next) => {
    try {
      return await next(request)
    } catch (error) {
      if (error instanceof StoreFailedError) return errorResponse(request, store.refusal(error))
      // As upstream passes etcd's refusal on: 500 without a reason.
      if (error instanceof RequestTooLargeError) return errorResponse(request, internal(error.message))
      if (!(error instanceof StatusError)) log(`${request.method} ${request.path}: ${error instanceof Error ? error.stack : String(error)}`)
      return errorResponse(request, statusOf(error))
    }
  }
