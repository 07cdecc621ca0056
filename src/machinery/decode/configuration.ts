/**
 * Configuration files: objects of kinds that no API serves, such as AdmissionConfiguration. Their types are defined
 * where they are used. They are decoded as strictly as objects of the API with `fieldValidation=Strict`.
 */

import { writeJson } from '../../lib/exact-json.ts'
import type { Field, FieldType, StructType } from '../schema.ts'
import { decode } from './index.ts'

/** A kind of configuration, and the group versions in which it is accepted. All of them have the same fields. */
export interface ConfigurationKind {
  readonly kind: string
  readonly versions: readonly string[]
  readonly fields: Readonly<Record<string, FieldType>>
}

export const text: FieldType = { kind: 'string' }
export const flag: FieldType = { kind: 'boolean' }
export const int32: FieldType = { kind: 'integer', format: 'int32' }
/** Any JSON. */
export const anything: FieldType = { kind: 'any' }
export const listOf = (items: FieldType): FieldType => ({ kind: 'array', items })

/** A struct type with these fields. Messages name it `goName`. */
export function structOf(goName: string, fields: Readonly<Record<string, FieldType>>): StructType {
  const entries = Object.entries(fields).map(([name, type]): [string, Field] => [name, { type, keepsEmpty: true }])
  return {
    kind: 'struct',
    definition: goName,
    goName,
    fields: new Map(entries),
    required: new Set(),
    atomic: false,
    groupVersionKinds: [],
  }
}

/** The value is an object of another kind or an unknown version. */
export class UnknownKindError extends Error {}

/**
 * Decodes a configuration to the kind's fields, whose type the caller names. Throws UnknownKindError, and an Error with
 * upstream's message if a field is invalid.
 */
export function decodeConfiguration<Fields>(value: unknown, { kind, versions, fields }: ConfigurationKind): Fields {
  const { kind: given, apiVersion } = isRecord(value) ? value : {}
  const shown = writeJson(value)
  if (typeof given !== 'string' || given === '') throw new UnknownKindError(`Object 'Kind' is missing in '${shown}'`)
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw new UnknownKindError(`Object 'apiVersion' is missing in '${shown}'`)
  if (given !== kind || !versions.includes(apiVersion))
    throw new UnknownKindError(
      `no kind "${given}" is registered for version "${apiVersion}": write kind: ${kind}, apiVersion: ${versions[0]}`,
    )
  const { object, strict } = decode(structOf(kind, { kind: text, apiVersion: text, ...fields }), value)
  if (strict.length > 0) throw new Error(`strict decoding error: ${strict.join(', ')}`)
  return object as Fields
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
