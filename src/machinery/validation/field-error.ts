/**
 * Field errors: an invalid field of an object, with upstream's message
 * (k8s.io/apimachinery `field.Error`). A 422 has one cause per field error.
 * Paths are plain strings: `spec.containers[0].name`, `data[a key]`.
 */
import { writeJson } from '../../lib/exact-json.ts'
import { countFault } from './fault-limit.ts'

export interface FieldError {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotFound'
    | 'InternalError'
  readonly field: string
  readonly message: string
}

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/**
 * Formats a value for a message: strings quoted, everything else as JSON, in which Go escapes the special characters of
 * HTML.
 */
function show(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  const text = writeJson(value)
  return typeof value === 'object'
    ? text.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character)
    : text
}

const suffix = (detail?: string): string => (detail ? `: ${detail}` : '')

/** Creates a field error, and counts it for `limitFaults`. */
export function fieldError(reason: FieldError['reason'], field: string, message: string): FieldError {
  const error: FieldError = { reason, field, message }
  countFault(error)
  return error
}

/** The field is missing. */
export const required = (field: string, detail?: string): FieldError =>
  fieldError('FieldValueRequired', field, `Required value${suffix(detail)}`)

/** The field's value is not allowed. `detail` is the reason. */
export const invalidValue = (field: string, value: unknown, detail?: string): FieldError =>
  fieldError('FieldValueInvalid', field, `Invalid value: ${show(value)}${suffix(detail)}`)

/** The value is not one of `supported`, which are listed in the given order. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  fieldError(
    'FieldValueNotSupported',
    field,
    `Unsupported value: ${show(value)}` +
      (supported.length ? `: supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}` : ''),
  )

/** The list has the value twice. */
export const duplicate = (field: string, value: unknown, detail?: string): FieldError =>
  fieldError('FieldValueDuplicate', field, `Duplicate value: ${show(value)}${suffix(detail)}`)

/** The field must not be set or changed here. */
export const forbiddenField = (field: string, detail: string): FieldError =>
  fieldError('FieldValueForbidden', field, `Forbidden: ${detail}`)

/** The value is longer than `max` bytes. */
export const tooLong = (field: string, max: number): FieldError =>
  fieldError('FieldValueTooLong', field, `Too long: may not be more than ${max} bytes`)

/** The list has `count` items where `max` are allowed. */
export const tooMany = (field: string, count: number, max: number): FieldError =>
  fieldError('FieldValueTooMany', field, `Too many: ${count}: must have at most ${max} items`)

/** The value names something that does not exist. */
export const notFoundValue = (field: string, value: unknown): FieldError =>
  fieldError('FieldValueNotFound', field, `Not found: ${show(value)}`)
