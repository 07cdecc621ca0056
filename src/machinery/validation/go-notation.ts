/** Values in Go's notation: a few of upstream's messages show them so, where all others show JSON. */
import { type FieldError, fieldError } from './field-error.ts'

/** `[]string{"a", "b"}`. */
export const goList = (values: readonly string[] | undefined, type = 'string'): string =>
  `[]${type}{${(values ?? []).map((value) => JSON.stringify(value)).join(', ')}}`

/** `(*bool)(nil)`: a pointer that may lead nowhere. */
export const goPointer = (value: boolean | undefined): string => (value === undefined ? '(*bool)(nil)' : `(*bool)(${value})`)

/** As `invalidValue`, with the value as it is shown. */
export const invalidShown = (field: string, shown: string, detail: string): FieldError =>
  fieldError('FieldValueInvalid', field, `Invalid value: ${shown}: ${detail}`)
