/** Validation of custom objects: values, embedded resources, lists, rules, in this order. */
import { type FieldError, invalidValue } from '../../validation/field-error.ts'
import { embeddedFaults } from '../embedded/embedded-metadata.ts'
import type { StructuralSchema } from '../schema.ts'
import { check } from './check.ts'
import { none } from './correlation.ts'
import { Findings } from './findings.ts'
import { listTypeFaults } from './list-types.ts'
import { validatorOf } from './validator.ts'

export interface ValueOptions {
  /**
   * True for a write to `/status`: only values in `status` are validated. Fields name paths in the object, messages
   * paths in the status (as of 1.30). List types and embedded resources are validated everywhere.
   */
  readonly statusOnly?: boolean
  /**
   * Further checks, run after those of values and before those of list types (`.spec.replicas: … should be a
   * non-negative integer`).
   */
  readonly moreFaults?: () => readonly FieldError[]
  /**
   * Returns the errors of rules (`x-kubernetes-validations`). Not called if values have errors that would make rules
   * fail.
   */
  readonly ruleFaults?: () => readonly FieldError[]
}

/** Errors that prevent the evaluation of rules. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to ' +
  'complete validation'

/**
 * Returns the errors of an object. `old` is the old object: unchanged values are admitted (KEP-4008).
 */
export function schemaFaults(
  object: Record<string, unknown>,
  schema: StructuralSchema,
  old?: Record<string, unknown>,
  options: ValueOptions = {},
): FieldError[] {
  const faults = options.statusOnly ? statusFaults(object, schema, old) : valueFaults(object, schema, '', old ?? none)
  if (options.moreFaults) faults.push(...options.moreFaults())
  if (schema.has.embedded) faults.push(...embeddedFaults(object, schema))
  if (schema.has.listTypes && (!old || listTypeFaults(old, schema).length === 0))
    faults.push(...listTypeFaults(object, schema))
  if (options.ruleFaults && schema.has.rules) {
    if (faults.some(({ reason }) => blocking.has(reason))) faults.push(invalidValue('<nil>', null, unchecked))
    else faults.push(...options.ruleFaults())
  }
  return faults
}

function statusFaults(
  object: Record<string, unknown>,
  schema: StructuralSchema,
  old: Record<string, unknown> | undefined,
): FieldError[] {
  const status = schema.properties?.get('status')
  if (!status || !Object.hasOwn(object, 'status')) return []
  return valueFaults(object.status, status, 'status', old && Object.hasOwn(old, 'status') ? old.status : none)
}

/** Returns the errors of one value, with `prefix` before their fields. */
export function valueFaults(
  value: unknown,
  schema: StructuralSchema,
  prefix: string,
  old: unknown = none,
): FieldError[] {
  const validator = validatorOf(schema)
  let found = new Findings()
  check(value, validator, '', none, found)
  if (found.list.length === 0) return []
  // Only invalid values have to be compared with the old ones.
  if (old !== none) {
    found = new Findings()
    check(value, validator, '', old, found)
  }
  return found.faults(prefix)
}
