/** Test objects of a kind in which fields are empty, null, or lists of null, as clients may send them. */
import { decode } from '../machinery/decode/index.ts'
import type { KubeObject } from '../machinery/object.ts'
import type { FieldType, StructType } from '../machinery/schema.ts'
import type { ResourceDefinition } from './resource.ts'

export type Fields = Record<string, unknown>

/** Returns the struct type of a field: the field's own, or that of its list items or map values. */
function structIn(type: FieldType): StructType | undefined {
  if (type.kind === 'struct') return type
  if (type.kind === 'array') return structIn(type.items)
  return type.kind === 'map' ? structIn(type.values) : undefined
}

/** Wraps a struct's value in the lists and maps of the field's type. */
function wrapInContainers(type: FieldType, inner: unknown): unknown {
  if (type.kind === 'array') return [wrapInContainers(type.items, inner)]
  return type.kind === 'map' ? { key: wrapInContainers(type.values, inner) } : inner
}

const emptyOf = ({ kind }: FieldType): unknown => (kind === 'array' ? [] : {})
const isContainer = ({ kind }: FieldType): boolean => kind === 'struct' || kind === 'array' || kind === 'map'

/** Yields objects with one field that is empty, null or a list of null, for each path up to the depth. */
function* sparse(type: StructType, depth: number): Generator<Fields> {
  for (const [name, field] of type.fields) {
    if (!isContainer(field.type) || name === 'metadata') continue
    yield { [name]: null }
    yield { [name]: emptyOf(field.type) }
    if (field.type.kind !== 'struct') yield { [name]: field.type.kind === 'array' ? [null] : { key: null } }
    const inner = structIn(field.type)
    if (!inner) continue
    if (depth > 1) for (const value of sparse(inner, depth - 1)) yield { [name]: wrapInContainers(field.type, value) }
    else yield { [name]: wrapInContainers(field.type, {}) }
  }
}

/** Returns an object with all lists, maps and structs down to the depth, which end in `leaf`. */
function full(type: StructType, depth: number, leaf: (type: FieldType) => unknown): Fields {
  const entries = [...type.fields].filter(([name, field]) => name !== 'metadata' && isContainer(field.type))
  return Object.fromEntries(
    entries.map(([name, field]) => {
      const inner = structIn(field.type)
      return [name, depth > 0 && inner ? wrapInContainers(field.type, full(inner, depth - 1, leaf)) : leaf(field.type)]
    }),
  )
}

/** Yields the fields of sparse objects, down to a depth. */
export function* sparseFields(type: StructType, depth: number): Generator<Fields> {
  yield {}
  for (let down = 0; down <= depth; down++) {
    yield full(type, down, () => null)
    yield full(type, down, emptyOf)
  }
  yield* sparse(type, depth)
}

/** Returns an object with the fields, decoded as from a request. */
export function decodeFields(resource: ResourceDefinition, type: StructType, fields: Fields): KubeObject {
  const { group, version, kind } = resource
  const object = decode(type, { apiVersion: group ? `${group}/${version}` : version, kind, ...structuredClone(fields) })
    .object as unknown as KubeObject
  object.metadata = { ...object.metadata, name: 'x', ...(resource.scope === 'Namespaced' && { namespace: 'default' }) }
  return object
}
