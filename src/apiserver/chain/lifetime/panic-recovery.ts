/**
 * Converts errors to Status responses. Unexpected errors are logged with their stack; the response refers to the log.
 */
import type { Log } from '../../../lib/log/log.ts'
import { internal, StatusError } from '../../../machinery/status-error.ts'
import { CommitUnknownError, RequestTooLargeError, StoreFailedError } from '../../../storage/store.ts'
import type { StoreHealth } from '../../health/store-health.ts'
import { text } from '../../http/exchange.ts'
import { errorResponse } from '../../negotiation/error-response.ts'
import type { Filter } from '../filter.ts'

/** The StatusError for an expected error; undefined for unexpected ones. */
export function expectedError(error: unknown, store: StoreHealth): StatusError | undefined {
  if (error instanceof StatusError) return error
  if (error instanceof StoreFailedError) return store.refusal(error)
  // As upstream passes on etcd's errors: 500 without a reason.
  if (error instanceof RequestTooLargeError || error instanceof CommitUnknownError) return internal(error.message)
  return undefined
}

export const panicRecovery = (log: Log, store: StoreHealth): Filter => ({
  failed(request, error) {
    const answer = expectedError(error, store)
    if (answer) return errorResponse(request, answer)
    const uri = request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path
    log(
      `apiserver panic'd: ${request.method} ${uri} auditID=${request.auditId}: ` +
        `${error instanceof Error ? error.stack : String(error)}`,
      'error',
    )
    return text(500, 'This request caused apiserver to panic. Look in the logs for details.\n')
  },
})
