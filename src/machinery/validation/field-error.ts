/**
 * Field errors: what is wrong with one field of an object, in upstream's words
 * (k8s.io/apimachinery `field.Error`). A 422 carries one cause per field error.
 * Paths are plain strings: `spec.containers[0].name`, `data[a key]`.
 */
import { writeJson } from '../../lib/exact-json.ts'
import { noteFault } from './fault-limit.ts'

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
 * How a value shows in a message: strings quoted, everything else as JSON, in which Go escapes what HTML would take for
 * its own.
 */
function show(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  const text = writeJson(value)
  return typeof value === 'object'
    ? text.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character)
    : text
}

const suffix = (detail?: string): string => (detail ? `: ${detail}` : '')

/** Every field error is made here, and counted where somebody bounds how many there may be. */
export function fieldError(reason: FieldError['reason'], field: string, message: string): FieldError {
  const error: FieldError = { reason, field, message }
  noteFault(error)
  return error
}

/** The field has to be there. */
export const required = (field: string, detail?: string): FieldError =>
  fieldError('FieldValueRequired', field, `Required value${suffix(detail)}`)

/** The field's value is not allowed; `detail` says what is. */
export const invalidValue = (field: string, value: unknown, detail?: string): FieldError =>
  fieldError('FieldValueInvalid', field, `Invalid value: ${show(value)}${suffix(detail)}`)

/** The value is none of the `supported` ones, which are listed in the order given. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  fieldError(
    'FieldValueNotSupported',
    field,
    'Unsupported value: ' +
      `${show(value)}${supported.length ? `: supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}` : ''}`,
  )

/** The value stands in the list twice. */
export const duplicate = (field: string, value: unknown, detail?: string): FieldError =>
  fieldError('FieldValueDuplicate', field, `Duplicate value: ${show(value)}${suffix(detail)}`)

/** The field may not be set, or not be changed, here. */
export const forbiddenField = (field: string, detail: string): FieldError =>
  fieldError('FieldValueForbidden', field, `Forbidden: ${detail}`)

/** The value is longer than `max` bytes. */
export const tooLong = (field: string, max: number): FieldError =>
  fieldError('FieldValueTooLong', field, `Too long: may not be more than ${max} bytes`)

/** The list has `count` items where `max` are allowed. */
export const tooMany = (field: string, count: number, max: number): FieldError =>
  fieldError('FieldValueTooMany', field, `Too many: ${count}: must have at most ${max} items`)

/** The value names something that is not there. */
export const notFoundValue = (field: string, value: unknown): FieldError =>
  fieldError('FieldValueNotFound', field, `Not found: ${show(value)}`)
