/** Parses the request's target; all later filters read `request.info`. */
import { requestInfo } from '../request-info/request-info.ts'
import type { Filter } from './filter.ts'

export const requestInfoFilter = (): Filter => ({
  begin(request) {
    request.info = requestInfo(request.method, request.path, request.query)
  },
})
