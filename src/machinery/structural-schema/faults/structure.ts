/**
 * Checks that a schema is structural (KEP-1178): types are specified outside of `allOf`, `anyOf`, `oneOf` and `not`,
 * which may only narrow them, and metadata is not specified.
 */
import { linearRegexp, RegexpSyntaxError } from '../../../lib/linear-regexp/index.ts'
import { jsonEqual } from '../../fields/json.ts'
import { type FieldError, fieldError, forbiddenField, invalidValue, required } from '../../validation/field-error.ts'
import { itemsOf, othersOf, propertiesOf, propertyOf, type SchemaSource } from '../source.ts'

type Level = 'root' | 'item' | 'field'

const textOf = ({ field, message }: FieldError): string => `${field}: ${message}`

/** Sorts by text, as upstream does. */
export function sortedFaults(faults: readonly FieldError[]): FieldError[] {
  return [...faults].sort((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0))
}

/** Returns the reasons why a schema is not structural, which the condition NonStructuralSchema lists. */
export const nonStructuralFaults = (schema: SchemaSource, path: string): FieldError[] =>
  sortedFaults([...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)])

/** Returns true if an unsupported keyword prevents the check that the schema is structural. */
export function hasUnsupported(schema: SchemaSource): boolean {
  return (
    Boolean(schema.id || schema.$schema || schema.$ref) ||
    Object.keys(schema.patternProperties ?? {}).length > 0 ||
    Object.keys(schema.dependencies ?? {}).length > 0 ||
    Object.keys(schema.definitions ?? {}).length > 0 ||
    (schema.additionalItems ?? undefined) !== undefined ||
    Array.isArray(schema.items) ||
    schema['x-kubernetes-preserve-unknown-fields'] === false
  )
}

const untyped: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function invariants(schema: SchemaSource, level: Level, path: string): FieldError[] {
  const faults: FieldError[] = []
  const type = schema.type ?? ''
  const items = itemsOf(schema)
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const intOrString = schema['x-kubernetes-int-or-string'] === true
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  const hasOthers = (schema.additionalProperties ?? undefined) !== undefined
  const properties = propertiesOf(schema)

  if (type === 'array' && !items) faults.push(required(`${path}.items`, 'must be specified'))
  if (items) faults.push(...invariants(items, 'item', `${path}.items`))
  for (const [name, property] of properties)
    faults.push(...invariants(property, 'field', `${path}.properties[${name}]`))
  const others = othersOf(schema)
  if (hasOthers && level === 'root')
    faults.push(forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'))
  if (others) faults.push(...invariants(others, 'field', `${path}.additionalProperties`))

  const exclusive = 'must be false if x-kubernetes-int-or-string is true'
  if (intOrString && preserves)
    faults.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, true, exclusive))
  if (intOrString && embedded) faults.push(invalidValue(`${path}.x-kubernetes-embedded-resource`, true, exclusive))
  faults.push(...junctors(schema, path, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf)))

  const object = 'must be object if x-kubernetes-embedded-resource is true'
  if (embedded && type !== 'object')
    faults.push(type === '' ? required(`${path}.type`, object) : invalidValue(`${path}.type`, type, object))
  else if (type === '' && !intOrString && !preserves) faults.push(required(`${path}.type`, untyped[level]))
  if (embedded && hasOthers)
    faults.push(
      forbiddenField(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    )
  if (level === 'root' && type !== '' && type !== 'object')
    faults.push(invalidValue(`${path}.type`, type, 'must be object at the root'))
  faults.push(...metadataFaults(schema, level, embedded, path))
  if (embedded && !preserves && properties.length === 0)
    faults.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  return faults
}

/** Schemas may restrict only the names in metadata. */
function metadataFaults(schema: SchemaSource, level: Level, embedded: boolean, path: string): FieldError[] {
  const faults: FieldError[] = []
  const resource = level === 'root' || embedded
  for (const name of ['kind', 'apiVersion']) {
    const property = resource ? propertyOf(schema, name) : undefined
    if (property && property.type !== 'string')
      faults.push(invalidValue(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'))
  }
  const metadata = propertyOf(schema, 'metadata')
  if (!metadata) return faults
  const at = `${path}.properties[metadata]`
  if (resource && metadata.type !== 'object')
    faults.push(invalidValue(`${at}.type`, metadata.type ?? '', 'must be object'))
  if (level === 'root' && specifiesMore(metadata))
    faults.push(
      forbiddenField(
        at,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    )
  return faults
}

function specifiesMore({ type, default: initial, properties, externalDocs, example, ...more }: SchemaSource): boolean {
  return (
    Object.keys(properties ?? {}).some((name) => name !== 'name' && name !== 'generateName') ||
    Object.values(more).some(isSet)
  )
}

/** Returns true if Go's value would not be the zero value. */
const isSet = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0)

const intOrStringForm = [{ type: 'integer' }, { type: 'string' }]

/** The only form in which `anyOf` may specify types. */
const isIntOrString = (anyOf: readonly SchemaSource[] | undefined): boolean =>
  anyOf?.length === 2 && jsonEqual(anyOf, intOrStringForm)

function junctors(schema: SchemaSource, path: string, skipAnyOf: boolean, skipFirstAllOf: boolean): FieldError[] {
  const faults: FieldError[] = []
  if (!skipAnyOf)
    for (const [i, branch] of (schema.anyOf ?? []).entries()) faults.push(...nested(branch, `${path}.anyOf[${i}]`))
  for (const [i, branch] of (schema.allOf ?? []).entries())
    faults.push(...nested(branch, `${path}.allOf[${i}]`, skipFirstAllOf && i === 0))
  for (const [i, branch] of (schema.oneOf ?? []).entries()) faults.push(...nested(branch, `${path}.oneOf[${i}]`))
  if (schema.not) faults.push(...nested(schema.not, `${path}.not`))
  if (schema.pattern) {
    const why = patternFault(schema.pattern)
    if (why)
      faults.push(
        invalidValue(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${why}`),
      )
  }
  return faults
}

function patternFault(pattern: string): string | undefined {
  try {
    linearRegexp(pattern)
    return undefined
  } catch (error) {
    if (error instanceof RegexpSyntaxError) return error.message
    throw error
  }
}

/** Keywords that are forbidden below a junctor, with the value that the message requires. */
const misplaced: readonly (readonly [keyof SchemaSource, 'empty' | 'undefined' | 'false'])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['externalDocs', 'undefined'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
]

function nested(schema: SchemaSource, path: string, skipAnyOf = false): FieldError[] {
  const faults = junctors(schema, path, skipAnyOf, false)
  const items = itemsOf(schema)
  if (items) faults.push(...nested(items, `${path}.items`))
  for (const [name, property] of propertiesOf(schema)) faults.push(...nested(property, `${path}.properties[${name}]`))
  for (const [keyword, must] of misplaced) {
    const value = schema[keyword]
    if (must === 'undefined' ? (value ?? undefined) !== undefined : isSet(value))
      faults.push(forbiddenField(`${path}.${keyword}`, `must be ${must} to be structural`))
  }
  if (propertyOf(schema, 'metadata'))
    faults.push(forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  return faults
}

/** Checks that every field in a junctor is also specified outside of it. */
function completeness(
  schema: SchemaSource,
  outside: SchemaSource | undefined,
  outsidePath: string,
  path: string,
): FieldError[] {
  const branches: (readonly [SchemaSource, string])[] = []
  if (schema.not) branches.push([schema.not, `${path}.not`])
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const [i, branch] of (schema[junctor] ?? []).entries()) branches.push([branch, `${path}.${junctor}[${i}]`])
  return branches.flatMap(([branch, at]) => nestedCompleteness(branch, outside, outsidePath, at))
}

function nestedCompleteness(
  schema: SchemaSource,
  outside: SchemaSource | undefined,
  outsidePath: string,
  path: string,
): FieldError[] {
  if (!outside)
    return [fieldError('FieldValueRequired', outsidePath, `Required value: because it is defined in ${path}`)]
  const faults = completeness(schema, outside, outsidePath, path)
  const items = itemsOf(schema)
  if (items) faults.push(...nestedCompleteness(items, itemsOf(outside), `${outsidePath}.items`, `${path}.items`))
  for (const [name, property] of propertiesOf(schema)) {
    const at = `.properties[${name}]`
    faults.push(...nestedCompleteness(property, propertyOf(outside, name), outsidePath + at, path + at))
  }
  return faults
}
