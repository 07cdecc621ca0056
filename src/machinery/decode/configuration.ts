/**
 * Configuration files: objects of kinds that no API serves, such as AdmissionConfiguration. Their shape is written down
 * where they are used; they are decoded as strictly as objects of the API with `fieldValidation=Strict`.
 */

import { writeJson } from '../../lib/exact-json.ts'
import type { Field, FieldType, StructType } from '../schema.ts'
import { decode } from './index.ts'

/** A kind of configuration, and the group versions in which it may be written. All of them have one shape. */
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

/** A structure of these fields; `goName` is what messages call it. */
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

/** The value is an object of another kind, or of one in a version that there is not. */
export class OtherKindError extends Error {}

/**
 * Decodes a configuration: the kind's own fields, as its shape says; the caller names their type. Throws
 * OtherKindError, and an Error in upstream's words for what does not fit the shape.
 */
export function decodeConfiguration<Fields>(value: unknown, { kind, versions, fields }: ConfigurationKind): Fields {
  const { kind: given, apiVersion } = isRecord(value) ? value : {}
  const shown = writeJson(value)
  if (typeof given !== 'string' || given === '') throw new OtherKindError(`Object 'Kind' is missing in '${shown}'`)
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw new OtherKindError(`Object 'apiVersion' is missing in '${shown}'`)
  if (given !== kind || !versions.includes(apiVersion))
    throw new OtherKindError(
      `no kind "${given}" is registered for version "${apiVersion}": write kind: ${kind}, apiVersion: ${versions[0]}`,
    )
  const { object, strict } = decode(structOf(kind, { kind: text, apiVersion: text, ...fields }), value)
  if (strict.length > 0) throw new Error(`strict decoding error: ${strict.join(', ')}`)
  return object as Fields
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
