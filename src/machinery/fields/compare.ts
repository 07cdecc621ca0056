/** The differences of two objects of a type as field sets. Parts that both share by reference cost nothing. */
import { own } from '../../lib/own.ts'
import type { FieldsV1 } from '../object.ts'
import type { StructType } from '../schema.ts'
import { leaf } from './field-set.ts'
import { everyFieldOf } from './field-set-of.ts'
import { isObject, type JsonObject, jsonEqual } from './json.ts'
import { fieldElement } from './path-element.ts'
import { type Collection, itemsByElement, type TypedField, type TypedNode, typedNode } from './typed-node.ts'

export interface Comparison {
  readonly added: FieldsV1
  readonly modified: FieldsV1
  readonly removed: FieldsV1
}

/**
 * Compares two objects. Fields that Go always writes count as present with their zero value, so that an object's first
 * field in `spec` does not add `spec` itself.
 */
export function compare(before: unknown, after: unknown, type: StructType): Comparison {
  const walk = { added: {}, modified: {}, removed: {}, path: [] }
  compareNodes(before, after, typedNode(type), walk)
  return walk
}

interface Walk {
  readonly added: FieldsV1
  readonly modified: FieldsV1
  readonly removed: FieldsV1
  readonly path: string[]
}

/** Inserts a node at `path` + `element`. */
function insert(root: FieldsV1, path: readonly string[], element: string, node: FieldsV1): void {
  let at = root
  for (const step of path) {
    at[step] ??= {}
    at = at[step]
  }
  at[element] = node
}

/** Marks the value at the current path as modified. */
function modify({ modified, path }: Walk): void {
  const last = path.length - 1
  if (last < 0) return
  let at = modified
  for (let i = 0; i < last; i++) {
    at[path[i]!] ??= {}
    at = at[path[i]!]!
  }
  at[path[last]!] ??= leaf
}

function compareMember(walk: Walk, element: string, node: TypedNode, before: unknown, after: unknown): void {
  if (before === after) return
  if (before === undefined) insert(walk.added, walk.path, element, everyFieldOf(after, node))
  else if (after === undefined) insert(walk.removed, walk.path, element, everyFieldOf(before, node))
  else if (jsonEqual(before, after)) return
  else if (node.kind === 'leaf') insert(walk.modified, walk.path, element, leaf)
  else {
    walk.path.push(element)
    compareNodes(before, after, node, walk)
    walk.path.pop()
  }
}

function compareNodes(before: unknown, after: unknown, node: TypedNode, walk: Walk): void {
  if (before === after) return
  if (node.kind === 'leaf') {
    if (!jsonEqual(before, after)) modify(walk)
    return
  }
  if (node.kind === 'set' || node.kind === 'list') {
    const x = Array.isArray(before) ? before : []
    const y = Array.isArray(after) ? after : []
    if (x.length || y.length) compareLists(x, y, node, walk)
    else if (!jsonEqual(before, after)) modify(walk)
    return
  }
  const x = isObject(before) ? before : undefined
  const y = isObject(after) ? after : undefined
  // If only compareName of the values is a map, the field itself and the map's members differ.
  const hasChangedKind = node.kind === 'deduced' && !(x || before === null) !== !(y || after === null)
  if (hasChangedKind) modify(walk)
  if (hasMembers(x) || hasMembers(y)) compareMaps(x, y, node, walk)
  else if (!hasChangedKind && !jsonEqual(before, after)) modify(walk)
}

/** Returns a member's value in Go: its zero value if the object does not have it. */
const goValueOf = (value: unknown, { zero }: TypedField): unknown =>
  value === undefined || (value === null && zero !== undefined) ? zero : value

const hasMembers = (value: JsonObject | undefined): boolean => {
  for (const key in value) if (value[key] !== undefined) return true
  return false
}

function compareMaps(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  node: Exclude<TypedNode, { kind: 'leaf' } | Collection>,
  walk: Walk,
): void {
  if (node.kind === 'struct') {
    const compareName = (name: string): void => {
      const field = node.fields.get(name)
      // No field of a schema has the name of an inherited property.
      if (field)
        compareMember(
          walk,
          field.element,
          field.node,
          before && goValueOf(before[name], field),
          after && goValueOf(after[name], field),
        )
      else if (node.others) compareMember(walk, fieldElement(name), node.others, own(before, name), own(after, name))
    }
    for (const name of Object.keys(after ?? {}).sort()) compareName(name)
    for (const name in before) if (!after || !Object.hasOwn(after, name)) compareName(name)
    return
  }
  const values: TypedNode = node.kind === 'map' ? node.values : node
  for (const name of Object.keys(after ?? {}).sort())
    compareMember(walk, fieldElement(name), values, own(before, name), after![name])
  for (const name in before)
    if (!after || !Object.hasOwn(after, name)) compareMember(walk, fieldElement(name), values, before[name], undefined)
}

function compareLists(before: readonly unknown[], after: readonly unknown[], node: Collection, walk: Walk): void {
  const x = itemsByElement(node, before)
  const y = itemsByElement(node, after)
  for (const [element, now] of y) {
    const then = x.get(element)
    if (now.length === 1 && (!then || then.length === 1)) compareMember(walk, element, node.items, then?.[0], now[0])
    // Items with the same key are compared as one value.
    else if (now.length > 1 && then && then.length > 1) {
      if (!jsonEqual(then, now)) insert(walk.modified, walk.path, element, leaf)
    } else if (now.length > 1) {
      if (then) insert(walk.removed, walk.path, element, everyFieldOf(then[0], node.items))
      insert(walk.added, walk.path, element, leaf)
    } else {
      insert(walk.added, walk.path, element, everyFieldOf(now[0], node.items))
      insert(walk.removed, walk.path, element, leaf)
    }
  }
  for (const [element, then] of x) {
    if (y.has(element)) continue
    insert(walk.removed, walk.path, element, then.length > 1 ? leaf : everyFieldOf(then[0], node.items))
  }
}
