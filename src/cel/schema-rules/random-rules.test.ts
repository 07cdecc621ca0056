import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SchemaSource, structuralFaults, structuralSchema } from '../../machinery/structural-schema/index.ts'
import { definitionFaults, SchemaRules } from './index.ts'

const rounds = 400
/** The limit for one object in ms, far above the actual time. */
const maxMs = 2000

/** Returns a deterministic random generator. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const random = randomOf(7)
const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T
const times = <T>(most: number, make: (i: number) => T): T[] =>
  Array.from({ length: random(most + 1) }, (_, i) => make(i))

const names = ['a', 'b-c', 'd.e', 'for', '__x__', '9', 'metadata', 'kind', 'constructor', 'name']
const formats = ['byte', 'date', 'date-time', 'duration', 'uuid', 'ipv4']

function schema(depth: number): SchemaSource {
  const more: SchemaSource = {
    ...(random(5) === 0 && { nullable: true }),
    ...(random(3) > 0 && { 'x-kubernetes-validations': times(3, () => validation()) }),
  }
  switch (random(depth > 0 ? 10 : 6)) {
    case 0:
      return { type: 'integer', ...more }
    case 1:
      return { type: 'number', ...more }
    case 2:
      return { type: 'boolean', ...more }
    case 3:
      return {
        type: 'string',
        ...(random(2) === 0 && { format: pick(formats) }),
        ...(random(2) === 0 && { maxLength: random(100) }),
        ...more,
      }
    case 4:
      return { 'x-kubernetes-int-or-string': true, ...more }
    case 5:
      return { 'x-kubernetes-preserve-unknown-fields': true, ...(random(2) === 0 && { type: 'object' }), ...more }
    case 6:
      return {
        type: 'array',
        items: schema(depth - 1),
        ...(random(2) === 0 && { maxItems: random(10) }),
        ...listType(),
        ...more,
      }
    case 7:
      return {
        type: 'object',
        additionalProperties: schema(depth - 1),
        ...(random(2) === 0 && { maxProperties: random(10) }),
        ...more,
      }
    default: {
      const properties = Object.fromEntries(times(4, () => [pick(names), schema(depth - 1)] as const))
      return { type: 'object', properties, ...(random(4) === 0 && { 'x-kubernetes-embedded-resource': true }), ...more }
    }
  }
}

const listType = (): SchemaSource =>
  pick([
    {},
    { 'x-kubernetes-list-type': 'set' },
    { 'x-kubernetes-list-type': 'atomic' },
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
  ])

const validation = () => ({
  rule:
    random(4) === 0 ? expression(4) : `${expression(3)} ${pick(['==', '!=', '<', 'in', '&&', '||'])} ${expression(3)}`,
  ...(random(4) === 0 && { message: pick(['m', ' ', 'a\nb']) }),
  ...(random(4) === 0 && { messageExpression: `string(${expression(2)})` }),
  ...(random(6) === 0 && { reason: pick(['FieldValueDuplicate', 'FieldValueForbidden', 'Else']) }),
  ...(random(6) === 0 && { fieldPath: pick(['.a', ".b['c']", '..', "['", '.a.for']) }),
  ...(random(6) === 0 && { optionalOldSelf: random(2) === 0 }),
})

const getters = 'size lowerAscii isSorted sum min hasValue value getHours reverse trim'.split(' ')
const methods = 'startsWith contains matches split join find findAll orValue indexOf format'.split(' ')
const functions = 'size string int double bytes dyn type isQuantity quantity url isURL ip cidr semver'.split(' ')

function expression(depth: number): string {
  const inner = (): string => expression(depth - 1)
  if (depth <= 0)
    return pick([
      'self',
      'self',
      'oldSelf',
      'x',
      '1',
      '-1',
      '0.5',
      '1u',
      '"a"',
      'b"a"',
      'true',
      'null',
      '[]',
      '{}',
      '""',
      'duration("1h")',
      'type(self)',
    ])
  const field = pick(['a', 'b__dash__c', 'd__dot__e', '__for__', 'metadata', 'kind', 'name'])
  switch (random(16)) {
    case 0:
      return `${inner()}.${field}`
    case 1:
      return `has(${inner()}.${field})`
    case 2:
      return `${inner()}.?${field}`
    case 3:
      return `${inner()}[${inner()}]`
    case 4:
      return `${inner()}.${pick(['all', 'exists', 'exists_one', 'map', 'filter'])}(x, ${inner()})`
    case 5:
      return `${inner()}.${pick(getters)}()`
    case 6:
      return `${inner()}.${pick(methods)}(${inner()})`
    case 7:
      return `${pick(functions)}(${inner()})`
    case 8:
      return `(${inner()} ? ${inner()} : ${inner()})`
    case 9:
      return `(${inner()} ${pick(['+', '-', '*', '/', '%'])} ${inner()})`
    case 10:
      return `[${inner()}, ${inner()}]`
    case 11:
      return `{${inner()}: ${inner()}}`
    case 12:
      return `!(${inner()})`
    case 13:
      return `optional.of(${inner()}).optMap(x, ${inner()})`
    case 14:
      return `(${inner()} ${pick(['==', '!=', '<', '>=', 'in', '&&', '||'])} ${inner()})`
    default:
      return pick(['self', 'oldSelf', inner(), '(', '"', 'self.'])
  }
}

/** Creates a value that mostly fits the schema. */
function value({ type, items, properties, additionalProperties, nullable, ...schema }: SchemaSource): unknown {
  if (random(nullable ? 3 : 20) === 0) return null
  if (random(30) === 0) return pick<unknown>([1, 'a', [], {}, true])
  if (schema['x-kubernetes-int-or-string']) return pick<unknown>([1, '50%', ''])
  switch (type) {
    case 'integer':
      return pick([0, 1, -1, 2 ** 53, 7])
    case 'number':
      return pick([0, 0.5, -1e300, 3])
    case 'boolean':
      return random(2) === 0
    case 'string':
      return pick([
        '',
        'a',
        'YQ==',
        '2024-02-29',
        '2024-02-29T01:02:03Z',
        '1h',
        '10Ki',
        'https://a/b?c',
        '10.0.0.1',
        '😀',
        '1.2.3',
      ])
    case 'array':
      return times(5, () => value((items ?? {}) as SchemaSource))
    case 'object':
      if (typeof additionalProperties === 'object')
        return Object.fromEntries(times(4, () => [pick(names), value(additionalProperties)] as const))
      return Object.fromEntries(
        Object.entries(properties ?? {}).flatMap(([name, below]) =>
          random(4) === 0 ? [] : [[name, value(below)] as const],
        ),
      )
    default:
      return pick<unknown>([1, 'a', { a: [1] }, [null]])
  }
}

test('random rules of random schemas neither throw nor hang for random values', () => {
  let valid = 0
  for (let round = 0; round < rounds; round++) {
    const source: SchemaSource = {
      type: 'object',
      properties: { spec: schema(3) },
      'x-kubernetes-validations': times(1, () => validation()),
    }
    const about = () => `round ${round}: ${JSON.stringify(source)}`
    const began = performance.now()
    let evaluated: readonly string[] = []
    try {
      const faults = structuralFaults(source, 'spec.validation.openAPIV3Schema', {
        ruleFaults: (it, path, faulty) => definitionFaults(it, path, { faulty }),
      })
      const rules = new SchemaRules(structuralSchema(source), true)
      const [object, old] = [0, 1].map(() => ({
        apiVersion: 'g/v1',
        kind: 'K',
        metadata: { name: 'a' },
        spec: value(source.properties!.spec!),
      }))
      evaluated = [...rules.faults(object), ...rules.faults(object, old)].map(({ message }) => message)
      if (faults.length === 0) {
        valid++
        assert.deepEqual(
          evaluated.filter((message) => message.includes('rule compile error')),
          [],
          about(),
        )
      }
      assert.deepEqual(
        rules
          .faults(object, object)
          .filter(({ message }) => message.includes('failed rule: ') && !message.includes('oldSelf')),
        [],
        about(),
      )
    } catch (error) {
      throw new Error(about(), { cause: error })
    }
    assert.ok(performance.now() - began < maxMs, about())
  }
  assert.ok(valid > 10, `only ${valid} schemas were valid`)
})
