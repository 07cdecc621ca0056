/**
 * Whether an applied object fits its type: known fields, right kinds of values, no list item twice. What is wrong is said in
 * structured-merge-diff's words, which print values as Go does.
 */
import type { FieldType, StructType } from '../schema.ts'
import { isObject } from './json.ts'
import { elementText } from './path-element.ts'
import { type Collection, isNamed, itemElement, memberOf, type TypedNode, typedNode } from './typed-node.ts'

/** What is wrong with the object, one line each (`.spec.replicas: expected numeric …`); empty when it fits. */
export function typeErrors(object: unknown, type: StructType): string[] {
  const errors: string[] = []
  check(object, typedNode(type), '', errors)
  return errors
}

/** The text of such errors together. */
export const typeErrorText = (errors: readonly string[]): string => (errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((e) => `  ${e}`)].join('\n'))

function check(value: unknown, node: TypedNode, path: string, errors: string[]): void {
  if (value === null || value === undefined) return
  const say = (text: string): void => void errors.push(path ? `${path}: ${text}` : text)
  switch (node.kind) {
    case 'leaf':
      checkType(value, node.type, path, errors)
      return
    case 'deduced':
      return
    case 'set':
    case 'list':
      if (Array.isArray(value)) checkItems(value, node, path, errors)
      else say(`expected list, got &{${goValue(value)}}`)
      return
    default:
      if (!isObject(value)) {
        say(`expected map, got &{${goValue(value)}}`)
        return
      }
      for (const name of Object.keys(value)) {
        const below = memberOf(node, name)
        if (below) check(value[name], below, `${path}.${name}`, errors)
        else if (!isNamed(node, name)) errors.push(`${path}.${name}: field not declared in schema`)
      }
  }
}

function checkItems(list: readonly unknown[], node: Collection, path: string, errors: string[]): void {
  const seen = new Set<string>()
  for (const [i, item] of list.entries()) {
    let element: string
    try {
      element = itemElement(node, item)
    } catch (error) {
      errors.push(`${path}: element ${i}: ${error instanceof Error ? error.message : error}`)
      return
    }
    if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${elementText(element)}`)
    seen.add(element)
    check(item, node.items, path + elementText(element), errors)
  }
}

/** What stands in an atomic list or map, or a scalar. */
function checkType(value: unknown, type: FieldType, path: string, errors: string[]): void {
  if (value === null || value === undefined) return
  const say = (text: string): void => void errors.push(path ? `${path}: ${text}` : text)
  switch (type.kind) {
    case 'any':
      return
    case 'array':
      if (Array.isArray(value)) for (const [i, item] of value.entries()) checkType(item, type.items, `${path}[${i}]`, errors)
      else say(`expected list, got &{${goValue(value)}}`)
      return
    case 'map':
    case 'struct':
      if (!isObject(value)) {
        say(`expected map, got &{${goValue(value)}}`)
        return
      }
      if (type.kind === 'map') for (const name of Object.keys(value)) checkType(value[name], type.values, `${path}.${name}`, errors)
      else check(value, typedNode(type), path, errors)
      return
    case 'integer':
    case 'number':
      if (typeof value !== 'number') say(`expected numeric (int or float), got ${goType(value)}`)
      return
    case 'string':
      if (typeof value !== 'string') say(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      return
    case 'boolean':
      if (typeof value !== 'boolean') say(`expected boolean, got &{${goValue(value)}}`)
      return
    default:
      if (typeof value === 'object') say(`expected any scalar, got &{${goValue(value)}}`)
  }
}

/** Go's `%T`. */
function goType(value: unknown): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
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
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `map[string]interface {}{${members.map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`).join(', ')}}`
}
