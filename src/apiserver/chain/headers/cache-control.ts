/** Marks responses as not cacheable by proxies, as they depend on the user. Adds the headers of flow control. */
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
