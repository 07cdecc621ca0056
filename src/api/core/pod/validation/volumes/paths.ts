/** Rules for paths of files, in containers and on nodes. */
import { type FieldError, invalidValue } from '../../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../../machinery/validation/field-rules.ts'

/** A path without `..` in it. */
export const noBacksteps = (value: string, path: string): readonly FieldError[] =>
  value.split('/').includes('..') ? [invalidValue(path, value, "must not contain '..'")] : valid

/** A relative path that stays below where it starts. */
export const descendingPath = (value: string, path: string): readonly FieldError[] =>
  value.startsWith('/')
    ? [invalidValue(path, value, 'must be a relative path'), ...noBacksteps(value, path)]
    : noBacksteps(value, path)

/** As `descendingPath`; names that begin with `..` are the kubelet's own. */
export const ownPath = (value: string, path: string): readonly FieldError[] =>
  all(
    descendingPath(value, path),
    value.startsWith('..') && !value.startsWith('../')
      ? [invalidValue(path, value, "must not start with '..'")]
      : valid,
  )
