/** Validation that ConfigMaps and Secrets share: size and immutability. */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { type FieldError, forbiddenField } from '../../../machinery/validation/field-error.ts'

/** The limit for all values, in bytes; etcd's limit for requests is about 1.5 MB. */
export const maxDataBytes = 1024 * 1024

/** Returns the decoded size of a base64 text, in bytes. */
export const base64Length = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

/** Rejects changes of fields after `immutable` was set. */
export const validateImmutableFields = <T extends object>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): readonly FieldError[] =>
  fields
    .filter((field) => !semanticallyEqual(object[field], old[field]))
    .map((field) => forbiddenField(field, 'field is immutable when `immutable` is set'))
