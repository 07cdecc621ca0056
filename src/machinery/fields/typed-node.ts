/**
 * Types for apply: which values are atomic or granular, and which lists are sets or maps. Compiled once per type from
 * the schema, so that walks over objects need no further decisions. Lists and maps follow `x-kubernetes-list-type` and
 * `x-kubernetes-map-type`; a list without one follows its patch strategy, as in kube-openapi's conversion.
 */
import { own } from '../../lib/own.ts'
import type { Field, FieldType, StructType } from '../schema.ts'
import { goJson, isObject } from './json.ts'
import { fieldElement, scalarText, valueElement } from './path-element.ts'

/** A field of a struct. */
export interface TypedField {
  readonly element: string
  readonly node: TypedNode
  /** Go's value if the object does not have the field; undefined if the field is then absent. */
  readonly zero: unknown
}

export type TypedNode =
  /** An atomic value: a scalar, an atomic list or map, free-form JSON. */
  | { readonly kind: 'leaf'; readonly type: FieldType }
  | StructNode
  | { readonly kind: 'map'; readonly values: TypedNode }
  | { readonly kind: 'set'; readonly items: TypedNode }
  | {
      readonly kind: 'list'
      readonly keys: readonly ListKey[]
      readonly declaredKeys: readonly string[]
      readonly items: TypedNode
    }
  /** Free-form JSON whose maps are granular. */
  | { readonly kind: 'deduced' }

export interface StructNode {
  readonly kind: 'struct'
  readonly fields: ReadonlyMap<string, TypedField>
  /** The type of fields that are not in `fields`. */
  readonly others: TypedNode | undefined
}

/** A key of a list's items, with its default. */
export interface ListKey {
  readonly name: string
  /** The start of the key in an element: `"name":`. */
  readonly text: string
  readonly default: unknown
}

export type Collection = Extract<TypedNode, { kind: 'set' | 'list' }>

const structs = new WeakMap<StructType, StructNode>()

/** Returns the node of a type. Ignores whether the type itself is atomic. */
export function typedNode(type: StructType): StructNode {
  const known = structs.get(type)
  if (known) return known
  let fields: ReadonlyMap<string, TypedField> | undefined
  let others: TypedNode | undefined
  // Types may be recursive: fields are computed on first use.
  const node: StructNode = {
    kind: 'struct',
    get fields() {
      fields ??= new Map(
        [...type.fields].map(([name, field]) => [
          name,
          { element: fieldElement(name), node: nodeOfField(field), zero: zeroOf(field) },
        ]),
      )
      return fields
    },
    get others() {
      if (type.others) others ??= nodeOfType(type.others)
      return others
    },
  }
  structs.set(type, node)
  return node
}

const deduced: TypedNode = { kind: 'deduced' }

function nodeOfType(type: FieldType): TypedNode {
  switch (type.kind) {
    case 'struct':
      return type.atomic ? { kind: 'leaf', type } : typedNode(type)
    case 'map':
      return { kind: 'map', values: nodeOfType(type.values) }
    case 'any':
      return type.deduced ? deduced : { kind: 'leaf', type }
    default:
      return { kind: 'leaf', type }
  }
}

function nodeOfField(field: Field): TypedNode {
  const { type } = field
  if (type.kind === 'array') return nodeOfList(field, type.items)
  if (type.kind !== 'struct' && type.kind !== 'map') return nodeOfType(type)
  if (field.mapType === 'atomic') return { kind: 'leaf', type }
  return type.kind === 'struct' && field.mapType === 'granular' ? typedNode(type) : nodeOfType(type)
}

function nodeOfList({ type, listType, listMapKeys, patchStrategy, patchMergeKey }: Field, items: FieldType): TypedNode {
  const keyed = (keys: readonly string[]): TypedNode => ({
    kind: 'list',
    items: nodeOfType(items),
    declaredKeys: keys,
    keys: [...keys].sort().map((name) => ({
      name,
      text: `${goJson(name)}:`,
      default: items.kind === 'struct' ? items.fields.get(name)?.default : undefined,
    })),
  })
  if (listType === 'map') return keyed(listMapKeys ?? [])
  if (listType === 'set') return { kind: 'set', items: nodeOfType(items) }
  if (listType === 'atomic' || !patchStrategy?.includes('merge')) return { kind: 'leaf', type }
  return patchMergeKey ? keyed([patchMergeKey]) : { kind: 'set', items: nodeOfType(items) }
}

function zeroOf({ type, written }: Field): unknown {
  if (!written) return undefined
  switch (type.kind) {
    case 'struct':
      return {}
    case 'string':
      return type.format === undefined ? '' : null
    case 'boolean':
      return false
    case 'integer':
    case 'number':
    case 'int-or-string':
      return 0
    case 'quantity':
      return '0'
    case 'array':
    case 'map':
    case 'any':
      return null
  }
}

/** Returns the node of a member of an object, or undefined if the schema does not have it. */
export function memberOf(node: Exclude<TypedNode, { kind: 'leaf' } | Collection>, name: string): TypedNode | undefined {
  if (node.kind === 'struct') return node.fields.get(name)?.node ?? node.others
  return node.kind === 'map' ? node.values : deduced
}

/** Returns true if the schema names the member. Members of maps are not named. */
export const isNamed = (node: TypedNode, name: string): boolean => node.kind === 'struct' && node.fields.has(name)

/** Returns the path element of a list item. Throws an Error with structured-merge-diff's message if it has none. */
export function itemElement(node: Collection, item: unknown): string {
  const place = placeOf(node, item)
  if (typeof place !== 'string') throw new Error(place.problem)
  return place
}

/** Returns the path element of a list item, or undefined if it has none. */
export function elementOrUndefined(node: Collection, item: unknown): string | undefined {
  const place = placeOf(node, item)
  return typeof place === 'string' ? place : undefined
}

/** Returns the path element or the problem. Does not throw: Errors are too slow for lists with many such items. */
function placeOf(node: Collection, item: unknown): string | { readonly problem: string } {
  if (node.kind === 'set') {
    if (item === null) return { problem: "associative list without keys has an element that's an explicit null" }
    if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' }
    if (isObject(item)) return { problem: "associative list without keys has an element that's a map type" }
    return valueElement(item)
  }
  if (item === null) return { problem: 'associative list with keys may not have a null element' }
  if (!isObject(item)) return { problem: 'associative list with keys may not have non-map elements' }
  let text = 'k:{'
  for (const key of node.keys) {
    // The default applies only to an absent key, not to null. An item without a key differs from all items with it.
    const given = own(item, key.name)
    const value = given === undefined ? key.default : given
    if (value !== undefined) text += (text.length > 3 ? ',' : '') + key.text + scalarText(value)
  }
  if (text.length > 3) return `${text}}`
  const names = node.declaredKeys.map((name) => JSON.stringify(name)).join(' ')
  return {
    problem:
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default ` +
      'values for any key fields)',
  }
}

/**
 * Groups the items of a list by element, in the list's order. Items with the same element are in one group. Omits
 * invalid items.
 */
export function itemsByElement(node: Collection, list: readonly unknown[]): Map<string, unknown[]> {
  const out = new Map<string, unknown[]>()
  for (const item of list) {
    const element = elementOrUndefined(node, item)
    if (element === undefined) continue
    const same = out.get(element)
    if (same) same.push(item)
    else out.set(element, [item])
  }
  return out
}
