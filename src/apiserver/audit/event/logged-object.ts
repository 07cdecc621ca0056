/**
 * Objects of requests and answers as events hold them: JSON, without managed fields where the policy does not want
 * them.
 */
import { parseJson } from '../../../lib/exact-json.ts'
import { escapedJson, goJson, isObject, type JsonObject } from '../../../machinery/fields/json.ts'
import { fromYaml } from '../../../machinery/yaml.ts'
import type { Response } from '../../http/exchange.ts'

/** Larger answers are left out: to join them would cost more memory than they did. */
const mostBytes = 16 * 1024 * 1024

/** JSON of a value that may have come from a client. */
export const objectJson = (value: unknown, omitManagedFields: boolean): string =>
  goJson(omitManagedFields ? withoutManagedFields(value) : value)

/**
 * The JSON of an answer that is an object of the API; undefined of one that is not, or is too large. Pieces are
 * gathered: the body becomes what was read.
 */
export function answerJson(
  response: Response,
  omitManagedFields: boolean,
): { readonly json: string | undefined; readonly response: Response } {
  const { body, headers } = response
  const type = String(headers['content-type'] ?? '')
  const isYaml = type.startsWith('application/yaml')
  if (body === undefined || typeof body === 'function' || !(isYaml || type.startsWith('application/json')))
    return { json: undefined, response }
  const parts = Buffer.isBuffer(body) ? [body] : [...body]
  const gathered = Buffer.isBuffer(body) || Array.isArray(body) ? response : { ...response, body: parts }
  let size = 0
  for (const part of parts) size += part.length
  if (size > mostBytes) return { json: undefined, response: gathered }
  const text = Buffer.concat(parts).toString().trim()
  // Answers for people have lines; events are one.
  if (!isYaml && !omitManagedFields && !text.includes('\n')) return { json: escapedJson(text), response: gathered }
  return { json: objectJson(isYaml ? fromYaml(text) : parseJson(text), omitManagedFields), response: gathered }
}

/** A copy of an object, a list or a table as far as it changes. */
function withoutManagedFields(value: unknown): unknown {
  if (!isObject(value)) return value
  const { metadata, items, rows } = value
  return {
    ...value,
    ...(isObject(metadata) && { metadata: withoutMember(metadata) }),
    ...(Array.isArray(items) && { items: items.map(withoutManagedFields) }),
    ...(Array.isArray(rows) && {
      rows: rows.map((row: unknown) => (isObject(row) ? { ...row, object: withoutManagedFields(row.object) } : row)),
    }),
  }
}

function withoutMember({ managedFields: _, ...rest }: JsonObject): JsonObject {
  return rest
}
