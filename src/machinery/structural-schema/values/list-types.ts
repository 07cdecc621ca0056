/** Checks that lists of type set or map (`x-kubernetes-list-type`) have no duplicates. */
import { writeJson } from '../../../lib/exact-json.ts'
import { isObject, type JsonObject, sortMembers } from '../../fields/json.ts'
import { duplicate, type FieldError, invalidValue } from '../../validation/field-error.ts'
import { memberSchema, type StructuralSchema } from '../schema.ts'

/** Returns the duplicates, each one once. */
export function listTypeFaults(object: unknown, schema: StructuralSchema, path = ''): FieldError[] {
  const faults: FieldError[] = []
  visit(object, schema, path, faults)
  return faults
}

function visit(value: unknown, schema: StructuralSchema | undefined, path: string, faults: FieldError[]): void {
  if (!schema?.has.listTypes || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const type = schema.keywords['x-kubernetes-list-type']
    if (type === 'set') addDuplicates(value, value, path, faults)
    else if (type === 'map') mapFaults(value, schema.keywords['x-kubernetes-list-map-keys'] ?? [], path, faults)
    if (schema.items?.has.listTypes)
      for (let i = 0; i < value.length; i++) visit(value[i], schema.items, `${path}[${i}]`, faults)
    return
  }
  if (!isObject(value)) return
  for (const name in value) {
    const below = memberSchema(schema, name)
    if (!below?.has.listTypes) continue
    visit(
      value[name],
      below,
      schema.properties?.has(name) ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`,
      faults,
    )
  }
}

function mapFaults(list: readonly unknown[], keys: readonly string[], path: string, faults: FieldError[]): void {
  const odd = list.findIndex((item) => item !== null && !isObject(item))
  if (odd >= 0) {
    faults.push(
      invalidValue(`${path}[${odd}]`, sortMembers(list[odd]), 'must be an object for an array of list-type map'),
    )
    return
  }
  const places = list.map((item) => {
    const place: JsonObject = {}
    if (isObject(item)) for (const key of keys) if (Object.hasOwn(item, key)) place[key] = item[key]
    return place
  })
  addDuplicates(places, places, path, faults)
}

/** Adds an error for the second of equal values, not for further ones. */
function addDuplicates(
  values: readonly unknown[],
  shown: readonly unknown[],
  path: string,
  faults: FieldError[],
): void {
  if (values.length < 2) return
  const times = new Map<unknown, number>()
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    // Strings are quoted, so that no string equals the JSON of a list or object.
    const key = typeof value === 'object' || typeof value === 'string' ? writeJson(sortMembers(value)) : value
    const seen = times.get(key) ?? 0
    times.set(key, seen + 1)
    if (seen !== 1) continue
    faults.push(duplicate(`${path}[${i}]`, sortMembers(shown[i])))
  }
}
