/** Small rules that the validation of many kinds is put together from. Each returns what is wrong with one field. */
import { semanticallyEqual } from '../machinery/equality.ts'
import { type FieldError, invalidValue, notSupported, required } from '../machinery/field-error.ts'
import type { TextRule } from '../machinery/names.ts'

/** The field may not change. */
export const immutable = (field: string, value: unknown, old: unknown): FieldError[] =>
  semanticallyEqual(value, old) ? [] : [invalidValue(field, value, 'field is immutable')]

/** The number may not be negative; absent is fine. */
export const nonNegative = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : []

/** The number must be above zero; absent is fine. */
export const positive = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value <= 0 ? [invalidValue(field, value, 'must be greater than 0')] : []

/** The text is one of `supported`; absent is fine. */
export const oneOf = (field: string, value: string | undefined, supported: readonly string[]): FieldError[] =>
  value === undefined || supported.includes(value) ? [] : [notSupported(field, value, supported)]

/** The text follows a rule of `machinery/names.ts`. */
export const follows = (field: string, value: string, rule: TextRule): FieldError[] => rule(value).map((message) => invalidValue(field, value, message))

/** The text is there and follows the rule. */
export const requiredText = (field: string, value: string | undefined, rule: TextRule): FieldError[] =>
  value ? follows(field, value, rule) : [required(field)]

/** Upstream shows lists of texts in Go's notation: `[]string{"a", "b"}`. */
export const goList = (values: readonly string[] | undefined, type = 'string'): string =>
  `[]${type}{${(values ?? []).map((value) => JSON.stringify(value)).join(', ')}}`

/** As invalidValue, for values that upstream shows in Go's notation. */
export const invalidShown = (field: string, shown: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${shown}: ${detail}`,
})
