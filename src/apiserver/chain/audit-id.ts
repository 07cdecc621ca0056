/** Every request has an audit id: the client's, or one made here. Its answer tells it. */
import { randomUUID } from 'node:crypto'
import type { Filter } from './filter.ts'

/** What may be told back: an id of other characters is not taken. */
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

export const auditId = (): Filter => (request, next) => {
  const given = request.header('audit-id')
  const id = given && printable.test(given) ? given : randomUUID()
  request.auditId = id
  return next(request).then((response) => {
    response.headers['audit-id'] = id
    return response
  })
}
