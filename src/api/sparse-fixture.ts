/** For tests: objects of a kind in which fields are empty, null, or lists of null, as clients may send them. */
import { decode } from '../machinery/decode/index.ts'
import type { KubeObject } from '../machinery/object.ts'
import type { FieldType, StructType } from '../machinery/schema.ts'
import type { ResourceDefinition } from './resource.ts'

export type Fields = Record<string, unknown>

/** The struct that a field's value holds, alone, in a list or in a map. */
function structIn(type: FieldType): StructType | undefined {
  if (type.kind === 'struct') return type
  if (type.kind === 'array') return structIn(type.items)
  return type.kind === 'map' ? structIn(type.values) : undefined
}

/** A value of the type around its struct's value. */
function wrapped(type: FieldType, inner: unknown): unknown {
  if (type.kind === 'array') return [wrapped(type.items, inner)]
  return type.kind === 'map' ? { key: wrapped(type.values, inner) } : inner
}

const emptyOf = ({ kind }: FieldType): unknown => (kind === 'array' ? [] : {})
const collects = ({ kind }: FieldType): boolean => kind === 'struct' || kind === 'array' || kind === 'map'

/**
 * Objects in which one path leads to a field that is empty, null or a list of null; every such path up to the depth.
 */
function* sparse(type: StructType, left: number): Generator<Fields> {
  for (const [name, field] of type.fields) {
    if (!collects(field.type) || name === 'metadata') continue
    yield { [name]: null }
    yield { [name]: emptyOf(field.type) }
    if (field.type.kind !== 'struct') yield { [name]: field.type.kind === 'array' ? [null] : { key: null } }
    const inner = structIn(field.type)
    if (!inner) continue
    if (left > 1) for (const value of sparse(inner, left - 1)) yield { [name]: wrapped(field.type, value) }
    else yield { [name]: wrapped(field.type, {}) }
  }
}

/** All lists, maps and structs are there down to the depth, and end in `leaf`. */
function full(type: StructType, left: number, leaf: (type: FieldType) => unknown): Fields {
  const entries = [...type.fields].filter(([name, field]) => name !== 'metadata' && collects(field.type))
  return Object.fromEntries(
    entries.map(([name, field]) => {
      const inner = structIn(field.type)
      return [name, left > 0 && inner ? wrapped(field.type, full(inner, left - 1, leaf)) : leaf(field.type)]
    }),
  )
}

/** The fields of such objects, down to a depth. */
export function* sparseFields(type: StructType, depth: number): Generator<Fields> {
  yield {}
  for (let down = 0; down <= depth; down++) {
    yield full(type, down, () => null)
    yield full(type, down, emptyOf)
  }
  yield* sparse(type, depth)
}

/** An object with the fields, as it is decoded from a request. */
export function decoded(resource: ResourceDefinition, type: StructType, fields: Fields): KubeObject {
  const { group, version, kind } = resource
  const object = decode(type, { apiVersion: group ? `${group}/${version}` : version, kind, ...structuredClone(fields) })
    .object as unknown as KubeObject
  object.metadata = { ...object.metadata, name: 'x', ...(resource.scope === 'Namespaced' && { namespace: 'default' }) }
  return object
}
