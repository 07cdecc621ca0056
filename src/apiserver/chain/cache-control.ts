/** Answers depend on who asks: nothing between server and client may keep them. Headers that filters have noted go along. */
import type { Filter } from './filter.ts'

export const cacheControl = (): Filter => async (request, next) => {
  const response = await next(request)
  response.headers['cache-control'] ??= 'no-cache, private'
  if (request.answerHeaders) for (const [name, value] of request.answerHeaders) response.headers[name] = value
  return response
}
