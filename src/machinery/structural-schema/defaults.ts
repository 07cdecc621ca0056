/** Defaults of custom objects (KEP-575 of apiextensions) for fields that are absent, or null but not nullable. */
import { setOwn } from '../../lib/own.ts'
import { isObject } from '../fields/json.ts'
import type { StructuralSchema } from './schema.ts'

/** Sets missing defaults in place, also inside the value of a default. */
export function fillDefaults(value: unknown, schema: StructuralSchema | undefined): void {
  if (!schema?.has.defaults || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (!items) return
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && !items.nullable) value[i] = copy(items.default)
      fillDefaults(value[i], items)
    }
    return
  }
  if (!isObject(value)) return
  if (schema.properties)
    for (const [name, property] of schema.properties) {
      if (!property.has.defaults) continue
      const own = Object.hasOwn(value, name)
      if (property.default !== undefined && (!own || (value[name] === null && !property.nullable)))
        setOwn(value, name, copy(property.default))
      else if (!own) continue
      fillDefaults(value[name], property)
    }
  const { others } = schema
  if (typeof others !== 'object' || !others.has.defaults) return
  for (const name in value) {
    if (schema.properties?.has(name)) continue
    if (value[name] === null && !others.nullable) setOwn(value, name, copy(others.default))
    fillDefaults(value[name], others)
  }
}

/** Copies a default for one object. Returns null if there is none. */
const copy = (value: unknown): unknown =>
  value === undefined ? null : typeof value === 'object' && value !== null ? structuredClone(value) : value
