/** Removes the fields of a set from an object, or all others. */
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
  isEmpty(set) ? object : ((walk(object, set, typedNode(type), false) ?? {}) as T)

/** Returns the object with only the fields of the set and their parents. Does not change the object. */
export const extractFields = <T>(object: T, set: FieldsV1, type: StructType): T =>
  (walk(object, set, typedNode(type), true) ?? {}) as T

/** Returns undefined if no fields remain. */
function walk(value: unknown, set: FieldsV1, node: TypedNode, extract: boolean): unknown {
  if (node.kind === 'leaf') return extract || typeof value !== 'object' ? value : undefined
  if (node.kind === 'set' || node.kind === 'list')
    return Array.isArray(value) ? walkList(value, set, node, extract) : undefined
  if (!isObject(value)) return node.kind === 'deduced' ? value : undefined
  const out: JsonObject = {}
  let any = false
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue
    const remaining = walkMember(value[name], set, fieldElement(name), memberOf(node, name), extract)
    if (remaining === removed) continue
    setOwn(out, name, remaining ?? null)
    any = true
  }
  return any ? out : undefined
}

/** The result for a member or item that is removed. */
const removed = Symbol('removed')

function walkMember(
  value: unknown,
  set: FieldsV1,
  element: string,
  node: TypedNode | undefined,
  extract: boolean,
): unknown {
  const below = set[element]
  if (!below) return extract ? removed : value
  if (has(set, [element])) {
    if (!extract) return removed
    return isEmpty(below) || !node ? value : (walk(value, below, node, extract) ?? value)
  }
  return node ? walk(value, below, node, extract) : value
}

function walkList(list: readonly unknown[], set: FieldsV1, node: Collection, extract: boolean): unknown {
  const out: unknown[] = []
  for (const item of list) {
    const element = elementOrUndefined(node, item)
    if (element === undefined) {
      if (!extract) out.push(item)
      continue
    }
    const remaining = walkMember(item, set, element, node.items, extract)
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
