/**
 * Messages whose JSON form is not an object with their fields: times, quantities, int-or-string, raw JSON, and fields
 * that hold a schema or something else.
 */
import { parseJson } from '../../lib/exact-json.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { fieldsOf } from '../managed-fields/fields-cache.ts'
import { type WireReader, wireTypes } from './wire.ts'

/** Reads the scalar fields of a small message into `fields[number]`. Skips fields that are not in `wire`. */
function scalars(
  reader: WireReader,
  message: string,
  wire: Readonly<Record<number, 'int64' | 'int32' | 'text' | 'slice'>>,
): (number | bigint | string | Buffer | undefined)[] {
  const fields: (number | bigint | string | Buffer | undefined)[] = []
  reader.message(() => {
    while (!reader.done) {
      const { number, wireType } = reader.tag(message)
      const read = wire[number]
      if (!read) reader.skip(wireType)
      else if (wireType !== (read === 'int64' || read === 'int32' ? wireTypes.varint : wireTypes.bytes))
        throw new DecodeError(`proto: wrong wireType = ${wireType} for field ${message}`)
      else fields[number] = reader[read]()
    }
  })
  return fields
}

const timeFields = { 1: 'int64', 2: 'int64' } as const

/**
 * Reads seconds and nanoseconds since 1970 as RFC 3339 with `digits` fractional digits. Returns undefined for an empty
 * message, which is the zero time.
 */
export function readTime(reader: WireReader, digits: 0 | 6): string | undefined {
  const fields = scalars(reader, digits ? 'MicroTime' : 'Time', timeFields)
  if (fields.length === 0) return undefined
  const seconds = Number(fields[1] ?? 0)
  const nanos = Number(fields[2] ?? 0)
  const date = new Date((seconds + Math.floor(nanos / 1e9)) * 1000)
  const year = Number.isNaN(date.getTime()) ? Number.NaN : date.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) throw new DecodeError('Time.MarshalJSON: year outside of range [0,9999]')
  const text = date.toISOString().slice(0, 19)
  const fraction = String(((nanos % 1e9) + 1e9) % 1e9).padStart(9, '0')
  return digits ? `${text}.${fraction.slice(0, digits)}Z` : `${text}Z`
}

/** Reads a quantity's text. An empty message is zero. */
export const readQuantity = (reader: WireReader): string =>
  (scalars(reader, 'Quantity', { 1: 'text' })[1] as string | undefined) || '0'

/** Reads a string if the type (field 1) is 1, else a number. */
export function readIntOrString(reader: WireReader): number | string {
  const [, type = 0, number = 0, text = ''] = scalars(reader, 'IntOrString', { 1: 'int32', 2: 'int32', 3: 'text' })
  return type === 1 ? (text as string) : (number as number)
}

/** Reads the JSON in a RawExtension, FieldsV1 or JSON. Returns undefined if it is empty. */
export function readRawJson(reader: WireReader): unknown {
  const raw = scalars(reader, 'RawExtension', { 1: 'slice' })[1] as Buffer | undefined
  if (!raw?.length) return undefined
  try {
    return parseJson(raw.toString())
  } catch (error) {
    throw new DecodeError(`raw JSON in the message: ${(error as Error).message}`)
  }
}

/** Reads the set of fields of an entry of managedFields, which is shared and must not be changed. */
export function readFieldSet(reader: WireReader): unknown {
  const raw = scalars(reader, 'FieldsV1', { 1: 'slice' })[1] as Buffer | undefined
  if (!raw?.length) return undefined
  try {
    return fieldsOf(raw.toString())
  } catch (error) {
    throw new DecodeError(`raw JSON in the message: ${(error as Error).message}`)
  }
}

/** The alternatives to a JSON schema in one field. */
export type SchemaForm = 'schema-or-list' | 'schema-or-bool' | 'schema-or-strings'

/** Reads `items`, `additionalProperties` or `dependencies` of a JSON schema. `schema` reads a schema. */
export function readSchemaOr(reader: WireReader, form: SchemaForm, schema: (reader: WireReader) => unknown): unknown {
  let one: unknown
  let allowed = false
  const list: unknown[] = []
  reader.message(() => {
    while (!reader.done) {
      const { number, wireType } = reader.tag('JSONSchemaPropsOr')
      const schemaNumber = form === 'schema-or-bool' ? 2 : 1
      if (number === schemaNumber && wireType === wireTypes.bytes) one = schema(reader)
      else if (number === 1 && wireType === wireTypes.varint) allowed = reader.unsigned() !== 0
      else if (number === 2 && wireType === wireTypes.bytes)
        list.push(form === 'schema-or-list' ? schema(reader) : reader.text())
      else reader.skip(wireType)
    }
  })
  if (form === 'schema-or-bool') return one ?? allowed
  return list.length ? list : one
}
