/**
 * Whether an applied object fits its type: known fields, right kinds of values, no list item twice. What is wrong is
 * said in structured-merge-diff's words, which print values as Go does.
 */
import { writeJson } from '../../lib/exact-json.ts'
import type { FieldType, StructType } from '../schema.ts'
import { isObject } from './json.ts'
import { elementText, fieldElement, pathText } from './path-element.ts'
import {
  type Collection,
  elementOrUndefined,
  isNamed,
  itemElement,
  memberOf,
  type TypedNode,
  typedNode,
} from './typed-node.ts'

/** What is wrong with the object, one line each (`.spec.replicas: expected numeric …`); empty when it fits. */
export function typeErrors(object: unknown, type: StructType): string[] {
  // Nearly all fit: only of the others is it worth while to note where one is.
  if (fits(object, typedNode(type))) return []
  const walk: Walk = { errors: [], path: [] }
  check(object, typedNode(type), walk)
  return walk.errors
}

/** The text of such errors together. */
export const typeErrorText = (errors: readonly string[]): string =>
  errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((e) => `  ${e}`)].join('\n')

/** Whether nothing is wrong. May say no where all is well, and then the walk finds nothing. */
function fits(value: unknown, node: TypedNode): boolean {
  if (value === null || value === undefined) return true
  switch (node.kind) {
    case 'leaf':
      return fitsType(value, node.type)
    case 'deduced':
      return true
    case 'set':
    case 'list':
      return Array.isArray(value) && haveKeys(value, node) && value.every((item) => fits(item, node.items))
    default:
      if (!isObject(value)) return false
      for (const name in value) {
        const member = memberOf(node, name)
        if (!member || !fits(value[name], member)) return false
      }
      return true
  }
}

function fitsType(value: unknown, type: FieldType): boolean {
  if (value === null || value === undefined) return true
  switch (type.kind) {
    case 'any':
      return true
    case 'array':
      return Array.isArray(value) && value.every((item) => fitsType(item, type.items))
    case 'map':
      return isObject(value) && Object.values(value).every((item) => fitsType(item, type.values))
    case 'struct':
      return fits(value, typedNode(type))
    case 'integer':
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'string':
    case 'boolean':
      return typeof value === type.kind
    default:
      return typeof value !== 'object'
  }
}

/** Whether each item has a key, and no two have the same. */
function haveKeys(list: readonly unknown[], node: Collection): boolean {
  const key =
    node.kind === 'list' && node.keys.length === 1 && node.keys[0]!.default === undefined
      ? node.keys[0]!.name
      : undefined
  const seen = new Set<unknown>()
  for (const item of list) {
    // Names tell items apart as well as the elements that are made of them.
    const name = key !== undefined && isObject(item) ? item[key] : undefined
    seen.add(typeof name === 'string' ? name : elementOrUndefined(node, item))
  }
  return seen.size === list.length && !seen.has(undefined)
}

interface Walk {
  readonly errors: string[]
  /** Elements down to the value that is looked at; read only when something is wrong. */
  readonly path: string[]
}

const say = ({ errors, path }: Walk, text: string): void =>
  void errors.push(path.length ? `${pathText(path)}: ${text}` : text)

function below<T>(
  walk: Walk,
  element: string,
  look: (value: unknown, as: T, walk: Walk) => void,
  value: unknown,
  as: T,
): void {
  walk.path.push(element)
  look(value, as, walk)
  walk.path.pop()
}

function check(value: unknown, node: TypedNode, walk: Walk): void {
  if (value === null || value === undefined) return
  switch (node.kind) {
    case 'leaf':
      checkType(value, node.type, walk)
      return
    case 'deduced':
      return
    case 'set':
    case 'list':
      if (Array.isArray(value)) checkItems(value, node, walk)
      else say(walk, `expected list, got &{${goValue(value)}}`)
      return
    default:
      if (!isObject(value)) {
        say(walk, `expected map, got &{${goValue(value)}}`)
        return
      }
      for (const name of Object.keys(value)) {
        const member = memberOf(node, name)
        if (member) below(walk, fieldElement(name), check, value[name], member)
        else if (!isNamed(node, name)) walk.errors.push(`${pathText(walk.path)}.${name}: field not declared in schema`)
      }
  }
}

function checkItems(list: readonly unknown[], node: Collection, walk: Walk): void {
  const seen = new Set<string>()
  for (const [i, item] of list.entries()) {
    let element: string
    try {
      element = itemElement(node, item)
    } catch (error) {
      say(walk, `element ${i}: ${error instanceof Error ? error.message : error}`)
      return
    }
    if (seen.has(element)) say(walk, `duplicate entries for key ${elementText(element)}`)
    seen.add(element)
    below(walk, element, check, item, node.items)
  }
}

/** What stands in an atomic list or map, or a scalar. */
function checkType(value: unknown, type: FieldType, walk: Walk): void {
  if (value === null || value === undefined) return
  switch (type.kind) {
    case 'any':
      return
    case 'array':
      if (Array.isArray(value))
        for (const [i, item] of value.entries()) below(walk, `i:${i}`, checkType, item, type.items)
      else say(walk, `expected list, got &{${goValue(value)}}`)
      return
    case 'map':
    case 'struct':
      if (!isObject(value)) {
        say(walk, `expected map, got &{${goValue(value)}}`)
        return
      }
      if (type.kind === 'map')
        for (const name of Object.keys(value)) below(walk, fieldElement(name), checkType, value[name], type.values)
      else check(value, typedNode(type), walk)
      return
    case 'integer':
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        say(walk, `expected numeric (int or float), got ${goType(value)}`)
      return
    case 'string':
      if (typeof value !== 'string')
        say(walk, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      return
    case 'boolean':
      if (typeof value !== 'boolean') say(walk, `expected boolean, got &{${goValue(value)}}`)
      return
    default:
      if (typeof value === 'object') say(walk, `expected any scalar, got &{${goValue(value)}}`)
  }
}

/** Go's `%T`. */
function goType(value: unknown): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** Go's `%v`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  if (!isObject(value)) return String(value)
  const members = Object.keys(value).sort()
  return `map[${members.map((name) => `${name}:${goValue(value[name])}`).join(' ')}]`
}

/** Go's `%#v`. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isObject(value)) return writeJson(value)
  const members = Object.keys(value).sort()
  return (
    'map[string]interface ' +
    `{}{${members.map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`).join(', ')}}`
  )
}
