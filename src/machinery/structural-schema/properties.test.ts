/** Properties of all schemas and objects, tested with random ones from fixed seeds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typeErrors } from '../fields/validate-typed.ts'
import { objectMetaType } from './embedded/object-meta.ts'
import {
  dropNulls,
  fillDefaults,
  prune,
  type SchemaSource,
  schemaFaults,
  structType,
  structuralFaults,
  structuralSchema,
} from './index.ts'

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const names = ['a', 'b', 'metadata', 'kind', 'constructor', '__proto__', 'x.y', '']
const patterns = ['(a+)+$', '^(a|aa)*b$', '[[:alpha:]]{2,5}', '(', '\\p{Lu}', '^(([a-z])+.)+[A-Z]$', '(?i)x{3}']
const formats = ['date', 'date-time', 'uri', 'email', 'duration', 'int32', 'ipv6', 'nothing']

class Generator {
  readonly random: () => number

  constructor(seed: number) {
    this.random = randomNumbers(seed)
  }

  one<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T
  }

  withProbability(share: number): boolean {
    return this.random() < share
  }

  fields<T>(make: () => T): Record<string, T> {
    return Object.fromEntries(Array.from({ length: Math.floor(this.random() * 4) }, () => [this.one(names), make()]))
  }

  schema(depth: number): SchemaSource {
    const type = this.one(
      depth > 0
        ? ['object', 'array', 'string', 'integer', 'number', 'boolean']
        : ['string', 'integer', 'number', 'boolean'],
    )
    return {
      type,
      ...(this.withProbability(0.2) && { nullable: true }),
      ...(this.withProbability(0.2) && { default: this.value(2) }),
      ...(this.withProbability(0.1) && { enum: [this.value(1), this.value(1)] }),
      ...(this.withProbability(0.15) && { [this.one(['anyOf', 'oneOf', 'allOf'])]: [this.narrow(), this.narrow()] }),
      ...(this.withProbability(0.1) && { not: this.narrow() }),
      ...(type === 'string' && this.withProbability(0.4) && this.narrow()),
      ...(type === 'array' && {
        items: this.schema(depth - 1),
        ...(this.withProbability(0.3) && {
          'x-kubernetes-list-type': this.one(['set', 'atomic', 'map']),
          'x-kubernetes-list-map-keys': ['a'],
        }),
      }),
      ...(type === 'object' && this.structure(depth)),
    }
  }

  structure(depth: number): SchemaSource {
    return {
      ...(this.withProbability(0.7)
        ? { properties: this.fields(() => this.schema(depth - 1)) }
        : this.withProbability(0.5)
          ? { additionalProperties: this.schema(depth - 1) }
          : {}),
      ...(this.withProbability(0.2) && { 'x-kubernetes-preserve-unknown-fields': true }),
      ...(this.withProbability(0.15) && { 'x-kubernetes-embedded-resource': true }),
      ...(this.withProbability(0.2) && { required: [this.one(names)] }),
    }
  }

  narrow(): SchemaSource {
    return this.one<SchemaSource>([
      { pattern: this.one(patterns) },
      { format: this.one(formats) },
      { maxLength: 3 },
      { minimum: 2 },
      { multipleOf: 0.3 },
      { required: ['a'] },
    ])
  }

  value(depth: number): unknown {
    if (depth > 0 && this.withProbability(0.4)) return this.fields(() => this.value(depth - 1))
    if (depth > 0 && this.withProbability(0.3))
      return Array.from({ length: Math.floor(this.random() * 4) }, () => this.value(depth - 1))
    return this.one([
      null,
      true,
      0,
      1.5,
      -3,
      1e21,
      '',
      'a',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',
      '2024-01-01',
      'ÄÖ😀',
    ])
  }
}

const rounds = 1500

test('pruning and setting defaults are idempotent, and validation does not throw', () => {
  for (let seed = 1; seed <= rounds; seed++) {
    const generator = new Generator(seed)
    const source: SchemaSource = { ...generator.schema(0), type: 'object', ...generator.structure(4) }
    const schema = structuralSchema(source)
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a' },
      ...generator.fields(() => generator.value(4)),
    }
    const old = structuredClone(object)
    structuralFaults(source, 'spec.validation.openAPIV3Schema')
    prune(object, schema)
    const once = JSON.stringify(object)
    assert.deepEqual(prune(object, schema), [], `seed ${seed}`)
    assert.equal(JSON.stringify(object), once, `seed ${seed}`)
    dropNulls(object, schema)
    fillDefaults(object, schema)
    const filled = JSON.stringify(object)
    fillDefaults(object, schema)
    assert.equal(JSON.stringify(object), filled, `seed ${seed}`)
    schemaFaults(object, schema)
    schemaFaults(object, schema, old)
    assert.deepEqual(
      schemaFaults(object, schema, object).filter(({ field }) => field === '<nil>'),
      [],
      `seed ${seed}`,
    )
    typeErrors(
      object,
      structType(schema, { group: 'example.com', version: 'v1', kind: 'Thing', metadata: objectMetaType }),
    )
  }
})

test('a schema that is compiled twice finds the same errors in a value', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const generator = new Generator(seed)
    const source: SchemaSource = { type: 'object', properties: { f: generator.schema(3) } }
    const object = { f: generator.value(4) }
    assert.deepEqual(
      schemaFaults(object, structuralSchema(source)),
      schemaFaults(object, structuralSchema(JSON.parse(JSON.stringify(source)))),
    )
  }
})
