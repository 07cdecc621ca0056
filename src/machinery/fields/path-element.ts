/**
 * Path elements of FieldsV1 as strings: `f:name` (a field), `k:{"name":"x"}` (a list item by its keys), `v:"x"` (an
 * item of a set), `i:0` (an index). Their order and their form in messages are those of structured-merge-diff.
 */
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import { goJson, type JsonObject, sortMembers } from './json.ts'

export const fieldElement = (name: string): string => `f:${name}`
export const valueElement = (value: unknown): string => `v:${scalarText(value)}`

const plain = /^[\w ./:-]*$/

/** Writes a value as Go's JSON. Fast for strings and numbers, which most keys are. */
export function scalarText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && plain.test(value) ? `"${value}"` : goJson(value)
}

const order: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 }

/** Ranks the types of values: numbers, strings, booleans, lists, maps, null. */
function rank(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null ? 5 : 4
}

const lessFirst = <T extends string | number | bigint | boolean>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** A part of an element for comparison: a key of an item, or a value. Lists and maps are compared by their text. */
interface Part {
  readonly name: string
  readonly rank: number
  readonly value: string | number | bigint | boolean
}

function partOf(name: string, value: unknown): Part {
  const plain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  return { name, rank: rank(value), value: plain ? value : goJson(value) }
}

function partsOf(element: string): readonly Part[] {
  const value = body(element)
  return element[0] === 'k'
    ? Object.entries(value as JsonObject).map(([name, key]) => partOf(name, key))
    : [partOf('', value)]
}

function compareParts(a: readonly Part[], b: readonly Part[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const x = a[i]!
    const y = b[i]!
    const difference = lessFirst(x.name, y.name) || x.rank - y.rank || lessFirst(x.value, y.value)
    if (difference) return difference
  }
  return a.length - b.length
}

/** An element, prepared for comparison. */
export interface OrderedElement {
  readonly element: string
  readonly kind: number
  /**
   * The texts before and in the quotes, if the key or value is a plain string, as most are. For lists and maps, `text`
   * is the whole element. Both are empty for others.
   */
  readonly before: string
  readonly text: string
  /** Parsed on first use. */
  parts: readonly Part[] | undefined
}

const body = (element: string): unknown => parseJson(element.slice(2))

export function orderedElement(element: string): OrderedElement {
  const kind = element === '.' ? -1 : order[element[0]!]!
  let before = ''
  let text = ''
  if (kind === order.v && (element[2] === '[' || element[2] === '{')) {
    before = element.slice(0, 3)
    text = element
  } else if (kind === order.k || kind === order.v) {
    const start = kind === order.v ? 3 : element.indexOf('":"') + 3
    const end = element.length - (kind === order.v ? 1 : 2)
    if (
      start > 2 &&
      element.indexOf('"', start) === end &&
      element.charCodeAt(start - 1) === 0x22 &&
      !element.includes('\\')
    ) {
      before = element.slice(0, start)
      text = element.slice(start, end)
    }
  } else text = element
  return { element, kind, before, text, parts: undefined }
}

/** Compares by the order of FieldsV1: `.`, fields, keyed items, values, indexes. */
export function compareElements(a: OrderedElement, b: OrderedElement): number {
  const difference = a.kind - b.kind
  if (difference) return difference
  // These differ only in their text.
  if (a.before === b.before && (a.before !== '' || a.kind <= order.f!)) return lessFirst(a.text, b.text)
  a.parts ??= partsOf(a.element)
  b.parts ??= partsOf(b.element)
  return compareParts(a.parts, b.parts)
}

/** Sorts elements. Parses each one only once, because sorting compares it many times. */
export const sortedElements = (elements: readonly string[]): string[] =>
  elements
    .map(orderedElement)
    .sort(compareElements)
    .map(({ element }) => element)

/** Formats an element for messages: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function elementText(element: string): string {
  const kind = element[0]
  if (kind === 'f') return `.${element.slice(2)}`
  if (kind === 'v') return `[=${element.slice(2)}]`
  if (kind === 'i') return `[${element.slice(2)}]`
  const keys = Object.entries(body(element) as JsonObject)
  return `[${keys.map(([name, value]) => `${name}=${writeJson(value)}`).join(',')}]`
}

/** Formats a path for messages: `.spec.ports[port=80,protocol="TCP"].targetPort`. */
export const pathText = (path: readonly string[]): string => path.map(elementText).join('')

/** Matches values and items with one key that are in canonical form, as nearly all are. */
const canonical = /^(?:v:"[\w ./:-]*"|k:\{"\w+":"[\w ./:-]*"\})$/

/**
 * Returns the canonical form of an element (keys sorted, Go's JSON), or undefined for an unknown kind of element, which
 * has to be ignored. Throws an Error if the element is invalid.
 */
export function canonicalElement(element: string): string | undefined {
  if (element.length < 2 || element[1] !== ':') throw new Error(`key ${JSON.stringify(element)} is not a path element`)
  const kind = element[0]
  if (kind === 'f' || canonical.test(element)) return element
  if (kind === 'v') return valueElement(body(element))
  if (kind === 'k') {
    const keys = body(element)
    if (typeof keys !== 'object' || keys === null || Array.isArray(keys))
      throw new Error(`key ${JSON.stringify(element)} has no keys`)
    return `k:${goJson(sortMembers(keys))}`
  }
  if (kind === 'i') {
    if (!/^-?\d+$/.test(element.slice(2))) throw new Error(`key ${JSON.stringify(element)} is not an index`)
    return element
  }
  return undefined
}
