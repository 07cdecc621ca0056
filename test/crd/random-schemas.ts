/** Schemas that a definition may have, made up by chance, and values that more or less suit them. */
import type { Random } from '../fuzz/random.ts'

export type Schema = Readonly<Record<string, unknown>>

const names = ['a', 'b', 'c', 'constructor', 'x.y', 'spec']
const texts = [
  '',
  'a',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',
  'ÄÖ😀',
  '2024-01-01T00:00:00Z',
  '10.0.0.1',
  '1Gi',
]
/** Some take others' engines time without end. */
const patterns = [
  '(a+)+$',
  '^(a|aa)*b$',
  '[[:alpha:]]{2,5}',
  '\\p{Lu}',
  '^(([a-z])+.)+[A-Z]$',
  '(?i)x{3}',
  '^a{1,200}$',
  '(a*)*c',
]
const formats = ['date', 'date-time', 'uri', 'email', 'duration', 'int32', 'ipv6', 'byte']

const fields = <T>(r: Random, make: () => T): Record<string, T> =>
  Object.fromEntries(r.some(3, () => [r.pick(names), make()]))

const limits = (r: Random): Schema =>
  r.pick<Schema>([
    { pattern: r.pick(patterns) },
    { format: r.pick(formats) },
    { maxLength: 30 },
    { minimum: 2 },
    { multipleOf: 0.3 },
    { maxItems: 2 },
    {},
  ])

/** One level below the root at least: `depth` is how much deeper it may go. */
export function randomSchema(r: Random, depth: number): Schema {
  if (r.chance(0.1)) return { 'x-kubernetes-int-or-string': true }
  if (r.chance(0.05)) return { 'x-kubernetes-preserve-unknown-fields': true }
  const type = r.pick(
    depth > 0
      ? ['object', 'object', 'array', 'string', 'integer', 'number', 'boolean']
      : ['string', 'integer', 'number', 'boolean'],
  )
  const shared = {
    type,
    ...(r.chance(0.2) && { nullable: true }),
    ...(r.chance(0.3) && limits(r)),
    ...(r.chance(0.1) && { [r.pick(['anyOf', 'oneOf', 'allOf'])]: [limits(r), limits(r)] }),
    ...(r.chance(0.1) && { not: { pattern: r.pick(patterns) } }),
  }
  if (type === 'array') return { ...shared, ...listOf(r, depth) }
  if (type !== 'object') return shared
  if (r.chance(0.3)) return { ...shared, additionalProperties: randomSchema(r, depth - 1) }
  const preserved = r.chance(0.15) && { 'x-kubernetes-preserve-unknown-fields': true }
  const embedded = r.chance(0.1) && {
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  return {
    ...shared,
    ...preserved,
    ...embedded,
    properties: fields(r, () => randomSchema(r, depth - 1)),
    ...(r.chance(0.2) && { required: [r.pick(names)] }),
  }
}

function listOf(r: Random, depth: number): Schema {
  if (r.chance(0.3))
    return { items: { type: r.pick(['string', 'integer']) }, 'x-kubernetes-list-type': r.pick(['set', 'atomic']) }
  if (r.chance(0.4))
    return {
      items: {
        type: 'object',
        required: ['key'],
        properties: { key: { type: 'string' }, value: randomSchema(r, depth - 1) },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
    }
  return { items: randomSchema(r, depth - 1) }
}

const anything = (r: Random, depth: number): unknown => {
  if (depth > 0 && r.chance(0.3)) return fields(r, () => anything(r, depth - 1))
  if (depth > 0 && r.chance(0.2)) return r.some(3, () => anything(r, depth - 1))
  return r.pick<unknown>([null, true, 0, 1.5, -3, 1e21, ...texts])
}

/** A value that suits the schema but for one in ten of its parts. */
export function randomValue(r: Random, schema: Schema, depth = 6): unknown {
  if (r.chance(0.1)) return anything(r, 2)
  const { type, properties, additionalProperties, items } = schema
  switch (type) {
    case 'object':
      if (additionalProperties) return fields(r, () => randomValue(r, additionalProperties as Schema, depth - 1))
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Record<string, Schema>)
          .filter(() => r.chance(0.8))
          .map(([name, property]) => [name, randomValue(r, property, depth - 1)]),
      )
    case 'array':
      return r.some(3, () => randomValue(r, items as Schema, depth - 1))
    case 'integer':
      return r.below(5)
    case 'number':
      return r.below(50) / 10
    case 'boolean':
      return r.chance(0.5)
    case 'string':
      return r.pick(texts)
    default:
      return anything(r, 1)
  }
}
