/**
 * Values as large as a body may be, as JSON: lists and maps of the smallest items of a type, and texts on which regular
 * expressions are slow.
 */
import type { FieldType } from '../../../src/machinery/schema.ts'

/** Makes a value of up to `bytes` bytes of JSON. */
export interface HeavyShape {
  readonly name: string
  readonly text: (bytes: number) => string
}

/** The smallest non-empty value of a type. Values of different `i` differ. */
function smallest(type: FieldType, i: number | string, depth = 0): unknown {
  switch (type.kind) {
    case 'string':
      return type.format === 'byte' ? 'YQ==' : type.format ? '2024-01-01T00:00:00.000000Z' : `n${i}`
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return typeof i === 'number' ? i % 60000 : 1
    case 'int-or-string':
      return 1
    case 'quantity':
      return `${i}`.replace(/\D/g, '') || '1'
    case 'any':
      return {}
    case 'array':
      return depth > 3 ? [] : [smallest(type.items, i, depth + 1)]
    case 'map':
      return {}
    case 'struct': {
      if (depth > 3) return {}
      const names = new Set([
        ...type.required,
        ...['name', 'key', 'ip', 'uid', 'type'].filter((name) => type.fields.get(name)?.type.kind === 'string'),
      ])
      return Object.fromEntries([...names].map((name) => [name, smallest(type.fields.get(name)!.type, i, depth + 1)]))
    }
  }
}

function repeated(open: string, close: string, bytes: number, item: (i: number) => string): string {
  const parts: string[] = []
  for (let i = 0, length = 2; ; i++) {
    const text = item(i)
    length += text.length + 1
    if (length > bytes) break
    parts.push(text)
  }
  return `${open}${parts.join(',')}${close}`
}

const list = (name: string, item: (i: number) => string): HeavyShape => ({
  name,
  text: (bytes) => repeated('[', ']', bytes, item),
})
const map = (name: string, member: (i: number) => string): HeavyShape => ({
  name,
  text: (bytes) => repeated('{', '}', bytes, member),
})

const empties: Readonly<Record<FieldType['kind'], string>> = {
  string: '""',
  boolean: 'false',
  integer: '0',
  number: '0',
  quantity: '"0"',
  'int-or-string': '0',
  any: '{}',
  array: '[]',
  map: '{}',
  struct: '{}',
}

/**
 * The repeated units of texts. Texts end with a character that no rule allows, so that a regular expression must try
 * all matches before it fails.
 */
const units = [
  'a',
  'a-',
  'a.',
  '-',
  '.',
  '1',
  '0',
  ' ',
  '/',
  ':',
  ',',
  '=',
  '*',
  '(',
  '[',
  '{',
  '$(',
  '%',
  '\\n',
  'ü',
  '*/1,',
  '1h',
  'a=b,',
  '&a ',
]
const longText = (unit: string, end: string): HeavyShape => ({
  name: `"${unit}${unit}…${end}"`,
  text: (bytes) => `"${unit.repeat(Math.floor((bytes - 3) / Buffer.byteLength(unit)))}${end}"`,
})
const texts: readonly HeavyShape[] = units.flatMap((unit) => [longText(unit, '!'), longText(unit, '')])

/** The shapes of values to fill a field of the type with. */
export function shapesOf(type: FieldType): readonly HeavyShape[] {
  switch (type.kind) {
    case 'array': {
      const one = JSON.stringify(smallest(type.items, 0))
      return [
        list('empty items', () => empties[type.items.kind]),
        list('nulls', () => 'null'),
        list('distinct items', (i) => JSON.stringify(smallest(type.items, i))),
        list('equal items', () => one),
      ]
    }
    case 'map': {
      const empty = empties[type.values.kind]
      return [
        map('distinct keys', (i) => `"k${i}":${JSON.stringify(smallest(type.values, i))}`),
        map('wrong keys', (i) => `"-k${i}!":${empty}`),
        map('keys in other orders', (i) => `"${(i * 7919) % 1_000_003}":${empty}`),
        map('equal keys', () => `"k":${empty}`),
      ]
    }
    case 'any':
      return [
        list('numbers', () => '1'),
        list('empty objects', () => '{}'),
        map('distinct keys', (i) => `"k${i}":1`),
        { name: 'deep', text: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2) },
      ]
    default:
      return texts
  }
}
