/** Reads small bodies with plain fields. Unknown fields and wrong types are 400, with the fields that exist. */
import { badRequest } from '../../../machinery/status-error.ts'
import type { Request } from '../../http/exchange.ts'

const maxBodyBytes = 64 * 1024

/** The type of each field of a body. */
export type Fields = Readonly<Record<string, 'string' | 'number' | 'boolean'>>

/** Reads a JSON object, whose fields it checks. An empty body is an empty object. Default of `limit`: 64 KiB. */
export async function decodeBody<T extends object>(request: Request, fields: Fields, limit = maxBodyBytes): Promise<T> {
  const text = (await request.body(limit)).toString()
  const value = text === '' ? {} : parsed(text)
  if (!isObject(value)) throw badRequest('The body must be a JSON object.')
  for (const [name, member] of Object.entries(value)) {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!type) throw badRequest(`Unknown field ${JSON.stringify(name)}: use ${Object.keys(fields).join(', ')}.`)
    if (typeof member !== type) throw badRequest(`${name} must be a ${type}, not ${JSON.stringify(member)}.`)
  }
  return value as T
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw badRequest(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
