/** The field sets of an object: the fields that it sets (`fieldSetOf`), and every node (`everyFieldOf`). */
import type { FieldsV1 } from '../object.ts'
import type { StructType } from '../schema.ts'
import { emptySet, leaf } from './field-set.ts'
import { isObject } from './json.ts'
import { fieldElement } from './path-element.ts'
import { type Collection, isNamed, itemsByElement, memberOf, type TypedNode, typedNode } from './typed-node.ts'

/**
 * Returns the fields that an object sets, which its applier owns: leaves, keys of maps, list items, empty and null
 * maps, but not the structs and lists around them. Omits fields that the schema does not have.
 */
export const fieldSetOf = (object: unknown, type: StructType): FieldsV1 =>
  fieldsOf(object, typedNode(type), false) ?? emptySet

const isEmptyMap = (value: unknown): boolean => {
  if (!isObject(value)) return value === null
  for (const key in value) if (value[key] !== undefined) return false
  return true
}

function fieldsOf(value: unknown, node: TypedNode, member: boolean): FieldsV1 | undefined {
  if (node.kind === 'leaf') return leaf
  if (node.kind === 'set' || node.kind === 'list')
    return Array.isArray(value) ? fieldsOfList(value, node, member) : member ? leaf : undefined
  if (!isObject(value)) return node.kind === 'deduced' && value !== null ? leaf : member ? leaf : undefined
  const out: FieldsV1 = {}
  let any = false
  if (member) out['.'] = leaf
  for (const name of Object.keys(value).sort()) {
    const field = value[name]
    const below = field !== undefined && memberOf(node, name)
    const fields = below && fieldsOf(field, below, isEmptyMap(field) || !isNamed(node, name))
    if (!fields) continue
    out[fieldElement(name)] = fields
    any = true
  }
  return any ? out : member ? leaf : undefined
}

function fieldsOfList(list: readonly unknown[], node: Collection, member: boolean): FieldsV1 | undefined {
  const items = itemsByElement(node, list)
  if (items.size === 0) return member ? leaf : undefined
  const out: FieldsV1 = {}
  if (member) out['.'] = leaf
  for (const [element, same] of items) {
    out[element] = same.length > 1 ? leaf : fieldsOf(same[0], node.items, true)!
  }
  return out
}

/** Returns every node of an added or removed value as a member. */
export function everyFieldOf(value: unknown, node: TypedNode): FieldsV1 {
  if (node.kind === 'leaf' || typeof value !== 'object' || value === null) return leaf
  const out: FieldsV1 = { '.': leaf }
  let any = false
  if (node.kind === 'set' || node.kind === 'list') {
    if (!Array.isArray(value)) return leaf
    const items = itemsByElement(node, value)
    for (const [element, same] of items) {
      out[element] = same.length > 1 ? leaf : everyFieldOf(same[0], node.items)
      any = true
    }
    return any ? out : leaf
  }
  if (!isObject(value)) return leaf
  for (const name of Object.keys(value).sort()) {
    const field = value[name]
    if (field === undefined) continue
    const below = node.kind === 'struct' ? node.fields.get(name) : undefined
    const type = below?.node ?? memberOf(node, name)
    if (!type) continue
    out[below?.element ?? fieldElement(name)] = everyFieldOf(field, type)
    any = true
  }
  return any ? out : leaf
}
