/**
 * Answers depend on who asks: nothing between server and client may keep them. Headers that filters have noted go
 * along.
 */
import type { Filter } from '../filter.ts'

export const cacheControl = (): Filter => ({
  answered(request, response) {
    const { headers } = response
    headers['cache-control'] ??= 'no-cache, private'
    const { flow } = request
    if (flow) {
      headers['x-kubernetes-pf-flowschema-uid'] = flow.schema
      headers['x-kubernetes-pf-prioritylevel-uid'] = flow.level
    }
    return response
  },
})
