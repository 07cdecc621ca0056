/** Removes the fields of a set from an object. */
import { setOwn } from '../../lib/own.ts'
import type { FieldsV1 } from '../object.ts'
import type { StructType } from '../schema.ts'
import { has, isEmpty, leaf } from './field-set.ts'
import { isObject, type JsonObject } from './json.ts'
import { fieldElement } from './path-element.ts'
import { type Collection, elementOrUndefined, memberOf, type TypedNode, typedNode } from './typed-node.ts'

/**
 * Returns the object without the fields of the set. Maps and lists that become empty are null, not absent. Does not
 * change the object.
 */
export const removeFields = <T>(object: T, set: FieldsV1, type: StructType): T =>
  isEmpty(set) ? object : ((walk(object, set, typedNode(type)) ?? {}) as T)

/** Returns undefined if no fields remain. */
function walk(value: unknown, set: FieldsV1, node: TypedNode): unknown {
  if (node.kind === 'leaf') return typeof value !== 'object' ? value : undefined
  if (node.kind === 'set' || node.kind === 'list') return Array.isArray(value) ? walkList(value, set, node) : undefined
  if (!isObject(value)) return node.kind === 'deduced' ? value : undefined
  const out: JsonObject = {}
  let any = false
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue
    const remaining = walkMember(value[name], set, fieldElement(name), memberOf(node, name))
    if (remaining === removed) continue
    setOwn(out, name, remaining ?? null)
    any = true
  }
  return any ? out : undefined
}

/** The result for a member or item that is removed. */
const removed = Symbol('removed')

function walkMember(value: unknown, set: FieldsV1, element: string, node: TypedNode | undefined): unknown {
  const below = set[element]
  if (!below) return value
  if (has(set, [element])) return removed
  return node ? walk(value, below, node) : value
}

function walkList(list: readonly unknown[], set: FieldsV1, node: Collection): unknown {
  const out: unknown[] = []
  for (const item of list) {
    const element = elementOrUndefined(node, item)
    if (element === undefined) {
      out.push(item)
      continue
    }
    const remaining = walkMember(item, set, element, node.items)
    if (remaining !== removed && remaining !== undefined) out.push(remaining)
  }
  return out.length ? out : undefined
}

/**
 * Returns the set with every named field of a struct that has members below it as a member, too. Keys of maps and list
 * items are not changed.
 */
export const withNamedFields = (set: FieldsV1, type: StructType): FieldsV1 => named(set, typedNode(type))

function named(set: FieldsV1, node: TypedNode | undefined): FieldsV1 {
  const out: FieldsV1 = {}
  for (const element in set) {
    const below = set[element]!
    if (element === '.' || isEmpty(below)) {
      out[element] = below
      continue
    }
    const isField =
      element[0] === 'f' && node !== undefined && node.kind !== 'leaf' && node.kind !== 'set' && node.kind !== 'list'
    const name = element.slice(2)
    const type = isField ? memberOf(node, name) : node?.kind === 'list' ? node.items : undefined
    const filled = named(below, type)
    out[element] =
      isField && node.kind === 'struct' && node.fields.has(name) && !('.' in filled) ? { '.': leaf, ...filled } : filled
  }
  return out
}
