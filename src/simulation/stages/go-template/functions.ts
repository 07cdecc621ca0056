/** Functions for templates: Go's own, those of kwok, and those of sprig that stages use. */
import { writeJson } from '../../../lib/exact-json.ts'
import { toYaml } from '../../../machinery/yaml.ts'

export type Functions = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>

/** As in Go: empty values are false for `if`, `and`, `or`, `not`. */
export function isTrue(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return typeof value === 'object' ? Object.keys(value).length > 0 : true
}

/** Formats a value as Go does. */
export function format(value: unknown): string {
  if (value === undefined || value === null) return '<no value>'
  if (Array.isArray(value)) return `[${value.map(format).join(' ')}]`
  if (typeof value === 'object')
    return `map[${Object.entries(value)
      .sort()
      .map(([key, item]) => `${key}:${format(item)}`)
      .join(' ')}]`
  return String(value)
}

const number = (value: unknown): number => Number(value) || 0
const text = (value: unknown): string => (value === undefined || value === null ? '' : format(value))
const same = (a: unknown, b: unknown): boolean => (a ?? undefined) === (b ?? undefined)

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' || typeof b === 'number') return number(a) - number(b)
  return text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0
}

function item(collection: unknown, key: unknown): unknown {
  if (Array.isArray(collection)) return collection[number(key)]
  if (typeof collection === 'object' && collection !== null && Object.hasOwn(collection, String(key)))
    return (collection as Record<string, unknown>)[String(key)]
  return undefined
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const yaml = (value: unknown): string => toYaml(value).trimEnd()

/**
 * A value as YAML on the following lines, indented by `indent` and so many levels of two spaces; on the same line for
 * level 0.
 */
export function yamlBelow(value: unknown, level: unknown, indent: string): string {
  if (number(level) <= 0) return yaml(value)
  const before = `\n${indent}${'  '.repeat(number(level))}`
  return before + yaml(value).replaceAll('\n', before)
}

function printf(pattern: unknown, ...args: readonly unknown[]): string {
  let at = 0
  return text(pattern).replace(/%(%|[0-9.]*[a-z])/g, (whole, verb: string) => {
    if (verb === '%') return '%'
    const value = args[at++]
    if (verb === 'q') return JSON.stringify(text(value))
    if (verb === 'd') return String(Math.trunc(number(value)))
    const pad = /^0?(\d+)d$/.exec(verb)
    if (pad) return String(Math.trunc(number(value))).padStart(Number(pad[1]), verb.startsWith('0') ? '0' : ' ')
    return verb.endsWith('f') ? number(value).toFixed(Number(/\.(\d+)/.exec(verb)?.[1] ?? 6)) : format(value) || whole
  })
}

/**
 * Functions that do not depend on the object. The renderer implements `and` and `or`, which evaluate lazily, and
 * `YAML`, which depends on the position.
 */
export const plainFunctions: Functions = {
  not: (value) => !isTrue(value),
  eq: (value, ...others) => others.some((other) => same(value, other)),
  ne: (a, b) => !same(a, b),
  lt: (a, b) => compare(a, b) < 0,
  le: (a, b) => compare(a, b) <= 0,
  gt: (a, b) => compare(a, b) > 0,
  ge: (a, b) => compare(a, b) >= 0,
  index: (collection, ...keys) => keys.reduce(item, collection),
  len: (value) =>
    typeof value === 'string' ? value.length : Array.isArray(value) ? value.length : Object.keys(value ?? {}).length,
  print: (...args) => args.map(text).join(''),
  printf,
  Quote: (value) => JSON.stringify(text(value)),
  quote: (value) => JSON.stringify(text(value)),
  toYaml: yaml,
  toJson: (value) => writeJson(value ?? null),
  dict: (...args) => Object.fromEntries(args.flatMap((key, i) => (i % 2 === 0 ? [[text(key), args[i + 1]]] : []))),
  list: (...args) => args,
  get: item,
  hasKey: (collection, key) =>
    typeof collection === 'object' && collection !== null && Object.hasOwn(collection, text(key)),
  has: (value, list) => listOf(list).some((one) => same(one, value)),
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  coalesce: (...args) => args.find(isTrue),
  empty: (value) => !isTrue(value),
  ternary: (yes, no, condition) => (isTrue(condition) ? yes : no),
  add: (...args) => args.reduce<number>((sum, value) => sum + number(value), 0),
  add1: (value) => number(value) + 1,
  sub: (a, b) => number(a) - number(b),
  mul: (...args) => args.reduce<number>((product, value) => product * number(value), 1),
  div: (a, b) => Math.trunc(number(a) / number(b)) || 0,
  mod: (a, b) => number(a) % number(b) || 0,
  int: (value) => Math.trunc(number(value)),
  atoi: number,
  toString: text,
  lower: (value) => text(value).toLowerCase(),
  upper: (value) => text(value).toUpperCase(),
  trim: (value) => text(value).trim(),
  contains: (part, value) => text(value).includes(text(part)),
  hasPrefix: (part, value) => text(value).startsWith(text(part)),
  hasSuffix: (part, value) => text(value).endsWith(text(part)),
  replace: (from, to, value) => text(value).replaceAll(text(from), text(to)),
  join: (separator, list) => listOf(list).map(text).join(text(separator)),
  until: (count) => Array.from({ length: Math.min(Math.max(0, number(count)), 10_000) }, (_, i) => i),
  randInt: (least, most) => Math.floor(number(least) + Math.random() * (number(most) - number(least))),
}
