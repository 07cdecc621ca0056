/** Encodes request and response objects for events as JSON, without managed fields if the policy omits them. */
import { parseJson } from '../../../lib/exact-json.ts'
import { escapedJson, goJson, isObject, type JsonObject } from '../../../machinery/fields/json.ts'
import { fromYaml } from '../../../machinery/yaml.ts'
import type { Response } from '../../http/exchange.ts'

/** Larger responses are omitted: joining their parts would take too much memory. */
const maxBytes = 16 * 1024 * 1024

/** Encodes a value that may be from a client. */
export const objectJson = (value: unknown, omitManagedFields: boolean): string =>
  goJson(omitManagedFields ? withoutManagedFields(value) : value)

/**
 * Returns the JSON of a response object; undefined if it is not an API object or too large. A streamed body is
 * collected: use the returned response.
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
  if (size > maxBytes) return { json: undefined, response: gathered }
  const text = Buffer.concat(parts).toString().trim()
  // Pretty-printed responses have newlines; an event must be one line.
  if (!isYaml && !omitManagedFields && !text.includes('\n')) return { json: escapedJson(text), response: gathered }
  return { json: objectJson(isYaml ? fromYaml(text) : parseJson(text), omitManagedFields), response: gathered }
}

/** Returns a copy of an object, list or table without managed fields. Unchanged parts are shared. */
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
