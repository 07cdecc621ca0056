/** Validation of file paths, in containers and on nodes. */
import { type FieldError, invalidValue } from '../../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../../machinery/validation/field-rules.ts'

/** Rejects `..` as a part of the path. */
export const noBacksteps = (value: string, path: string): readonly FieldError[] =>
  value.split('/').includes('..') ? [invalidValue(path, value, "must not contain '..'")] : valid

/** Requires a relative path without `..`. */
export const descendingPath = (value: string, path: string): readonly FieldError[] =>
  value.startsWith('/')
    ? [invalidValue(path, value, 'must be a relative path'), ...noBacksteps(value, path)]
    : noBacksteps(value, path)

/** Like `descendingPath`, but rejects names that begin with `..` too: the kubelet reserves them. */
export const ownPath = (value: string, path: string): readonly FieldError[] =>
  all(
    descendingPath(value, path),
    value.startsWith('..') && !value.startsWith('../')
      ? [invalidValue(path, value, "must not start with '..'")]
      : valid,
  )
