/**
 * Validates an applied object against its type: known fields, values of the right type, no duplicate list items. The
 * messages are those of structured-merge-diff, which prints values in Go's format.
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

/** Returns the errors of an object, one line each (`.spec.replicas: expected numeric …`). Empty if it is valid. */
export function typeErrors(object: unknown, type: StructType): string[] {
  // Nearly all objects are valid: a fast check without paths comes first.
  if (fits(object, typedNode(type))) return []
  const walk: Walk = { errors: [], path: [] }
  check(object, typedNode(type), walk)
  return walk.errors
}

/** Joins such errors to one message. */
export const typeErrorText = (errors: readonly string[]): string =>
  errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((e) => `  ${e}`)].join('\n')

/** Returns true if the value is valid. May return false for a valid value: the full check then finds no errors. */
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

/** Returns true if each item has a unique key. */
function haveKeys(list: readonly unknown[], node: Collection): boolean {
  const key =
    node.kind === 'list' && node.keys.length === 1 && node.keys[0]!.default === undefined
      ? node.keys[0]!.name
      : undefined
  const seen = new Set<unknown>()
  for (const item of list) {
    // Names identify items as well as their elements do, and are faster.
    const name = key !== undefined && isObject(item) ? item[key] : undefined
    seen.add(typeof name === 'string' ? name : elementOrUndefined(node, item))
  }
  return seen.size === list.length && !seen.has(undefined)
}

interface Walk {
  readonly errors: string[]
  /** The path of the current value; read only for errors. */
  readonly path: string[]
}

const addError = ({ errors, path }: Walk, text: string): void =>
  void errors.push(path.length ? `${pathText(path)}: ${text}` : text)

function below<T>(
  walk: Walk,
  element: string,
  visit: (value: unknown, as: T, walk: Walk) => void,
  value: unknown,
  as: T,
): void {
  walk.path.push(element)
  visit(value, as, walk)
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
      else addError(walk, `expected list, got &{${goValue(value)}}`)
      return
    default:
      if (!isObject(value)) {
        addError(walk, `expected map, got &{${goValue(value)}}`)
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
      addError(walk, `element ${i}: ${error instanceof Error ? error.message : error}`)
      return
    }
    if (seen.has(element)) addError(walk, `duplicate entries for key ${elementText(element)}`)
    seen.add(element)
    below(walk, element, check, item, node.items)
  }
}

/** Checks a scalar, or the contents of an atomic list or map. */
function checkType(value: unknown, type: FieldType, walk: Walk): void {
  if (value === null || value === undefined) return
  switch (type.kind) {
    case 'any':
      return
    case 'array':
      if (Array.isArray(value))
        for (const [i, item] of value.entries()) below(walk, `i:${i}`, checkType, item, type.items)
      else addError(walk, `expected list, got &{${goValue(value)}}`)
      return
    case 'map':
    case 'struct':
      if (!isObject(value)) {
        addError(walk, `expected map, got &{${goValue(value)}}`)
        return
      }
      if (type.kind === 'map')
        for (const name of Object.keys(value)) below(walk, fieldElement(name), checkType, value[name], type.values)
      else check(value, typedNode(type), walk)
      return
    case 'integer':
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        addError(walk, `expected numeric (int or float), got ${goType(value)}`)
      return
    case 'string':
      if (typeof value !== 'string')
        addError(walk, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      return
    case 'boolean':
      if (typeof value !== 'boolean') addError(walk, `expected boolean, got &{${goValue(value)}}`)
      return
    default:
      if (typeof value === 'object') addError(walk, `expected any scalar, got &{${goValue(value)}}`)
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
