/**
 * Path elements of FieldsV1 as strings: `f:name` (a field), `k:{"name":"x"}` (a list item by its keys), `v:"x"` (an item of
 * a set), `i:0` (an index). Their order and the way they read in messages are those of structured-merge-diff.
 */
import { goJson, type JsonObject, sortMembers } from './json.ts'

export const fieldElement = (name: string): string => `f:${name}`
export const valueElement = (value: unknown): string => `v:${scalarText(value)}`

const plain = /^[\w ./:-]*$/

/** Go's JSON of a value; quick for the strings and numbers that keys mostly are. */
export function scalarText(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && plain.test(value) ? `"${value}"` : goJson(value)
}

const order: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 }

/** Numbers, strings, booleans, lists, maps, null: the order of values. */
function rank(value: unknown): number {
  if (typeof value === 'number') return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null ? 5 : 4
}

const lessFirst = <T extends string | number | boolean>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

function compareValues(a: unknown, b: unknown): number {
  const difference = rank(a) - rank(b)
  if (difference) return difference
  if (typeof a === 'object') return lessFirst(goJson(a), goJson(b))
  return lessFirst(a as string, b as string)
}

/** The text of a single key that is a plain string, as most are; undefined for other keys. */
function plainKey(element: string): string | undefined {
  const start = element.indexOf('":"') + 3
  return start > 2 && element.indexOf('"', start) === element.length - 2 && !element.includes('\\') ? element.slice(start, -2) : undefined
}

function compareKeyElements(a: string, b: string): number {
  const x = plainKey(a)
  const y = plainKey(b)
  if (x !== undefined && y !== undefined && a.startsWith(b.slice(0, b.length - y.length - 2))) return lessFirst(x, y)
  return compareKeys(body(a) as JsonObject, body(b) as JsonObject)
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const x = Object.entries(a)
  const y = Object.entries(b)
  for (let i = 0; i < x.length && i < y.length; i++) {
    const difference = lessFirst(x[i]![0], y[i]![0]) || compareValues(x[i]![1], y[i]![1])
    if (difference) return difference
  }
  return x.length - y.length
}

const body = (element: string): unknown => JSON.parse(element.slice(2))

/** The order in which FieldsV1 lists members: `.`, fields, keyed items, values, indexes. */
export function comparePathElements(a: string, b: string): number {
  if (a === b) return 0
  if (a === '.') return -1
  if (b === '.') return 1
  const difference = order[a[0]!]! - order[b[0]!]!
  if (difference) return difference
  if (a[0] === 'f') return a < b ? -1 : 1
  return a[0] === 'k' ? compareKeyElements(a, b) : compareValues(body(a), body(b))
}

/** How an element reads in a message: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function elementText(element: string): string {
  const kind = element[0]
  if (kind === 'f') return `.${element.slice(2)}`
  if (kind === 'v') return `[=${element.slice(2)}]`
  if (kind === 'i') return `[${element.slice(2)}]`
  const keys = Object.entries(body(element) as JsonObject)
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`
}

/** A path in a message: `.spec.ports[port=80,protocol="TCP"].targetPort`. */
export const pathText = (path: readonly string[]): string => path.map(elementText).join('')

/**
 * The element as this module writes it (keys sorted, Go's JSON), or undefined for a kind of element that is unknown,
 * which is to be ignored. Throws when it cannot be read.
 */
export function canonicalElement(element: string): string | undefined {
  if (element.length < 2 || element[1] !== ':') throw new Error(`key ${JSON.stringify(element)} is no path element`)
  const kind = element[0]
  if (kind === 'f') return element
  if (kind === 'v') return valueElement(body(element))
  if (kind === 'k') {
    const keys = body(element)
    if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new Error(`key ${JSON.stringify(element)} has no keys`)
    return `k:${goJson(sortMembers(keys))}`
  }
  if (kind === 'i') {
    if (!/^-?\d+$/.test(element.slice(2))) throw new Error(`key ${JSON.stringify(element)} is no index`)
    return element
  }
  return undefined
}
