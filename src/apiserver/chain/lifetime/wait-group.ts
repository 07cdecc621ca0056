/** Counts requests in progress; a stopping server answers new ones with 503. */
import { StatusError } from '../../../machinery/status-error.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import type { Filter } from '../filter.ts'
import { isServedDuringShutdown } from './shutdown-requests.ts'

export const waitGroupFilter = (group: WaitGroup): Filter => ({
  begin(request) {
    if (group.stopping && !isServedDuringShutdown(request)) {
      throw new StatusError(503, 'ServiceUnavailable', 'apiserver is shutting down', { retryAfterSeconds: 1 })
    }
    group.enter()
  },
  answered(_request, response) {
    group.leave()
    return response
  },
  failed(_request, error) {
    group.leave()
    throw error
  },
})
