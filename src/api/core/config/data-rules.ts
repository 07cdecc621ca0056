/** What ConfigMaps and Secrets share: how much they hold and how they are frozen. */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { type FieldError, forbiddenField } from '../../../machinery/validation/field-error.ts'

/** Keys and values together; etcd's requests end at about 1.5 MB. */
export const maxDataBytes = 1024 * 1024

/** Bytes that a base64 text stands for. */
export const base64Length = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

/** Fields that may not change once `immutable` is set. */
export const frozen = <T extends object>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): readonly FieldError[] =>
  fields
    .filter((field) => !semanticallyEqual(object[field], old[field]))
    .map((field) => forbiddenField(field, 'field is immutable when `immutable` is set'))
