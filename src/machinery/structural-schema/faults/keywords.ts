/**
 * The checks of apiextensions for each schema in a definition: supported keywords only, and vendor extensions only
 * where they apply.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../validation/field-error.ts'
import { fieldPathTarget } from '../field-path.ts'
import { itemsOf, othersOf, propertiesOf, propertyOf, type SchemaSource, type ValidationRule } from '../source.ts'

/** Checks that an update skips if the old object had such errors already. */
export interface KeywordChecks {
  readonly knownTypes: boolean
  readonly atomicSetItems: boolean
  readonly listKeys: boolean
}

interface Place {
  /** True in metadata, apiVersion or kind of a resource. */
  readonly insideMeta: boolean
  /** The reason why defaults are forbidden. */
  readonly noDefaults?: string
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const isMeta = (name: string): boolean => name === 'metadata' || name === 'kind' || name === 'apiVersion'

/**
 * Returns the errors of the keywords of a schema and of the schemas in it. Adds schemas with errors in or below them to
 * `faulty`.
 */
export function keywordFaults(
  root: SchemaSource,
  path: string,
  checks: KeywordChecks,
  faulty: Set<SchemaSource>,
): FieldError[] {
  const walk = (schema: SchemaSource, at: string, place: Place, isRoot: boolean): FieldError[] => {
    const faults = unsupported(schema, at, place, checks)
    const others = othersOf(schema)
    if ((schema.additionalProperties ?? undefined) !== undefined) {
      const named = Object.keys(schema.properties ?? {}).length > 0
      if (named && schema.additionalProperties !== true)
        faults.push(
          forbiddenField(`${at}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
        )
    }
    if (others) {
      const inside = place.insideMeta
        ? { ...place, noDefaults: 'inside additionalProperties applying to object metadata' }
        : place
      faults.push(...walk(others, `${at}.additionalProperties`, inside, false))
    }
    for (const [name, property] of propertiesOf(schema)) {
      const meta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && isMeta(name)
      const inside = !meta
        ? place
        : isRoot
          ? { insideMeta: true, noDefaults: `in top-level ${name}` }
          : { ...place, insideMeta: true }
      faults.push(...walk(property, `${at}.properties[${name}]`, inside, false))
    }
    if (schema.not) faults.push(...walk(schema.not, `${at}.not`, place, false))
    for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const)
      for (const [i, branch] of (schema[junctor] ?? []).entries())
        faults.push(...walk(branch, `${at}.${junctor}[${i}]`, place, false))
    const items = itemsOf(schema)
    if (items) faults.push(...walk(items, `${at}.items`, place, false))
    faults.push(...extensions(schema, at, checks))
    for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries())
      faults.push(...ruleTexts(schema, rule, `${at}.x-kubernetes-validations[${i}]`))
    if (faults.length > 0) faulty.add(schema)
    return faults
  }
  return walk(root, path, { insideMeta: false }, true)
}

function unsupported(
  schema: SchemaSource,
  path: string,
  { insideMeta, noDefaults }: Place,
  { knownTypes }: KeywordChecks,
): FieldError[] {
  const faults: FieldError[] = []
  const forbid = (keyword: string, detail = `${keyword} is not supported`): void =>
    void faults.push(forbiddenField(`${path}.${keyword}`, detail))
  if (knownTypes && schema.type && !types.includes(schema.type))
    faults.push(notSupported(`${path}.type`, schema.type, types))
  if ((schema.default ?? undefined) !== undefined && noDefaults) forbid('default', `must not be set ${noDefaults}`)
  if (schema.id) forbid('id')
  if ((schema.additionalItems ?? undefined) !== undefined) forbid('additionalItems')
  for (const keyword of ['patternProperties', 'definitions'] as const)
    if (Object.keys(schema[keyword] ?? {}).length > 0) forbid(keyword)
  if ((schema.dependencies ?? undefined) !== undefined) forbid('dependencies')
  if ((schema.$ref ?? undefined) !== undefined) forbid('$ref')
  if (schema.type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(schema.items)) forbid('items', 'items must be a schema object and not an array')
  if (insideMeta && schema['x-kubernetes-embedded-resource'])
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  if (schema.uniqueItems)
    forbid('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')
  return faults
}

function extensions(schema: SchemaSource, path: string, checks: KeywordChecks): FieldError[] {
  const faults: FieldError[] = []
  const {
    type = '',
    'x-kubernetes-map-type': mapType,
    'x-kubernetes-list-type': listType,
    'x-kubernetes-list-map-keys': keys = [],
  } = schema
  const items = itemsOf(schema)
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    faults.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  const needs = (wanted: string, keyword: string): void => {
    const detail = `must be ${wanted} if ${keyword} is specified`
    faults.push(type === '' ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail))
  }
  if (mapType !== undefined && type !== 'object') needs('object', 'x-kubernetes-map-type')
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular')
    faults.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
  if (listType !== undefined && type !== 'array') needs('array', 'x-kubernetes-list-type')
  else if (checks.atomicSetItems && isGranularSet(schema)) {
    const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
    if (items?.type === 'array')
      faults.push(invalidValue(`${path}.items.x-kubernetes-list-type`, items['x-kubernetes-list-type'], detail))
    else faults.push(invalidValue(`${path}.items.x-kubernetes-map-type`, items?.['x-kubernetes-list-type'], detail))
  }
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType))
    faults.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']))
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    const at = `${path}.x-kubernetes-list-type`
    faults.push(listType === undefined ? required(at, detail) : invalidValue(at, listType, detail))
  }
  if (listType === 'map') faults.push(...mapList(schema, keys, path))
  if (checks.listKeys) faults.push(...keyFaults(schema, path))
  return faults
}

/** Returns true if items of a set can be changed in part, which would change their identity. */
export function isGranularSet(schema: SchemaSource): boolean {
  const items = itemsOf(schema)
  if (schema['x-kubernetes-list-type'] !== 'set' || !items) return false
  if (items.type === 'array')
    return items['x-kubernetes-list-type'] !== undefined && items['x-kubernetes-list-type'] !== 'atomic'
  return items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic'
}

function mapList(schema: SchemaSource, keys: readonly string[], path: string): FieldError[] {
  const faults: FieldError[] = []
  const items = itemsOf(schema)
  if (keys.length === 0)
    faults.push(required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'))
  if ((schema.items ?? undefined) === undefined)
    faults.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'))
  else if (!items)
    faults.push(
      invalidValue(`${path}.items`, schema.items, 'must only have a single schema if x-kubernetes-list-type is map'),
    )
  if (!items) return faults
  if (items.type !== 'object') {
    faults.push(
      invalidValue(
        `${path}.items.type`,
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    )
    return faults
  }
  const seen = new Set<string>()
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (!property)
      faults.push(
        invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, 'entries must all be names of item properties'),
      )
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      faults.push(invalidValue(`${path}.items.properties[${key}].type`, items.type, detail))
    }
    if (seen.has(key))
      faults.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, 'must not contain duplicate entries'))
    seen.add(key)
  }
  return faults
}

/** Checks that the keys that identify items are required or have defaults, and are not nullable. */
export function keyFaults(schema: SchemaSource, path: string): FieldError[] {
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema
  const items = itemsOf(schema)
  if (!items || (listType !== 'set' && listType !== 'map')) return []
  const faults: FieldError[] = []
  if (items.nullable)
    faults.push(
      forbiddenField(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    )
  if (listType === 'set') return faults
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (!property) continue
    const at = `${path}.items.properties[${key}]`
    const because = 'this property is in x-kubernetes-list-map-keys, so it'
    if (!items.required?.includes(key) && (property.default ?? undefined) === undefined)
      faults.push(required(`${at}.default`, `${because} must have a default or be a required property`))
    if (property.nullable) faults.push(forbiddenField(`${at}.nullable`, `${because} cannot be nullable`))
  }
  return faults
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const lineBreak = /[\n\r]/

/** Checks the texts of a rule, but not its expressions. */
function ruleTexts(schema: SchemaSource, rule: ValidationRule, path: string): FieldError[] {
  const faults: FieldError[] = []
  const { rule: text = '', message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const trimmedMessage = message.trim()
  if (text.trim() === '') faults.push(required(`${path}.rule`, 'rule is not specified'))
  else if (message !== '' && trimmedMessage === '')
    faults.push(invalidValue(`${path}.message`, message, 'must be non-empty if specified'))
  else if (lineBreak.test(trimmedMessage))
    faults.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'))
  else if (lineBreak.test(text.trim()) && trimmedMessage === '')
    faults.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && messageExpression.trim() === '')
    faults.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  if (reason !== undefined && !reasons.includes(reason)) faults.push(notSupported(`${path}.reason`, reason, reasons))
  if (fieldPath === '') return faults
  if (fieldPath.trim() === '')
    faults.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  if (lineBreak.test(fieldPath))
    faults.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'))
  if (typeof fieldPathTarget(fieldPath, schema) === 'string')
    faults.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  return faults
}
