/** Taking fields out of an object, or only them, by a set of fields. */
import { setOwn } from '../../lib/own.ts'
import type { FieldsV1 } from '../object.ts'
import type { StructType } from '../schema.ts'
import { has, isEmpty, leaf } from './field-set.ts'
import { isObject, type JsonObject } from './json.ts'
import { fieldElement } from './path-element.ts'
import { type Collection, elementOrUndefined, memberOf, type TypedNode, typedNode } from './typed-node.ts'

/**
 * The object without the fields of the set. Members whose maps and lists have become empty are null, which is not the
 * same as gone. The object is not changed.
 */
export const removeFields = <T>(object: T, set: FieldsV1, type: StructType): T =>
  isEmpty(set) ? object : ((walk(object, set, typedNode(type), false) ?? {}) as T)

/** The object with nothing but the fields of the set, and what leads to them. The object is not changed. */
export const extractFields = <T>(object: T, set: FieldsV1, type: StructType): T =>
  (walk(object, set, typedNode(type), true) ?? {}) as T

/** Undefined when nothing is left. */
function walk(value: unknown, set: FieldsV1, node: TypedNode, extract: boolean): unknown {
  if (node.kind === 'leaf') return extract || typeof value !== 'object' ? value : undefined
  if (node.kind === 'set' || node.kind === 'list')
    return Array.isArray(value) ? walkList(value, set, node, extract) : undefined
  if (!isObject(value)) return node.kind === 'deduced' ? value : undefined
  const out: JsonObject = {}
  let any = false
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue
    const left = walkMember(value[name], set, fieldElement(name), memberOf(node, name), extract)
    if (left === gone) continue
    setOwn(out, name, left ?? null)
    any = true
  }
  return any ? out : undefined
}

/** Says that a member or item is not to be there. */
const gone = Symbol('gone')

function walkMember(
  value: unknown,
  set: FieldsV1,
  element: string,
  node: TypedNode | undefined,
  extract: boolean,
): unknown {
  const below = set[element]
  if (!below) return extract ? gone : value
  if (has(set, [element])) {
    if (!extract) return gone
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
    const left = walkMember(item, set, element, node.items, extract)
    if (left !== gone && left !== undefined) out.push(left)
  }
  return out.length ? out : undefined
}

/**
 * The set with every named field of a structure that has members below it as a member too; keys of maps and list items
 * stay as they are.
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
