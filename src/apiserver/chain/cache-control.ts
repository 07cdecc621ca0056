/** Answers depend on who asks: nothing between server and client may keep them. */
import type { Filter } from './filter.ts'

export const cacheControl = (): Filter => async (request, next) => {
  const response = await next(request)
  response.headers['cache-control'] ??= 'no-cache, private'
  return response
}
