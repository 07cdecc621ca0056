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
   * Only values in `status` are looked at: a write to `/status`. Fields are named from the object, in messages from the
   * status (as of 1.30). Lists and embedded resources are looked at everywhere.
   */
  readonly statusOnly?: boolean
  /**
   * What else is asked about values: comes after them and before lists (`.spec.replicas: … should be a non-negative
   * integer`).
   */
  readonly moreFaults?: () => readonly FieldError[]
  /**
   * What rules (`x-kubernetes-validations`) say. They are not asked when values have faults that would mislead them.
   */
  readonly ruleFaults?: () => readonly FieldError[]
}

/** Rules would stumble over these. */
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
 * What is wrong with an object. `old` is the object that it replaces: values that did not change are let through
 * (KEP-4008).
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

/** What is wrong with one value; fields begin with `prefix`. */
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
  // Only what is wrong has to be held against what was there before.
  if (old !== none) {
    found = new Findings()
    check(value, validator, '', old, found)
  }
  return found.faults(prefix)
}
