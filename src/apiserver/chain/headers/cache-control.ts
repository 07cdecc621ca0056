/** Marks responses as not cacheable by proxies, as they depend on the user. */
import type { Filter } from '../filter.ts'

export const cacheControl = (): Filter => ({
  answered(_request, response) {
    response.headers['cache-control'] ??= 'no-cache, private'
    return response
  },
})
