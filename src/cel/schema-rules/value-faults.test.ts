import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type SchemaSource, structuralSchema, type ValidationRule } from '../../machinery/structural-schema/index.ts'
import { SchemaRules } from './index.ts'

const rules = (...list: (string | ValidationRule)[]): SchemaSource => ({
  'x-kubernetes-validations': list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const object = (properties: Record<string, SchemaSource>, more: SchemaSource = {}): SchemaSource => ({
  type: 'object',
  properties,
  ...more,
})
const integer: SchemaSource = { type: 'integer' }
const keyed: SchemaSource = {
  type: 'array',
  items: object({ k: integer, v: integer }),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
}

/** Returns the errors of rules for the field `x` of a resource, or, with `old`, for its update. */
function faultsOf(schema: SchemaSource, value: unknown, ...old: unknown[]): string[] {
  const of = new SchemaRules(structuralSchema(object({ x: schema })), true)
  const found =
    old.length === 0 ? of.faults({ x: value }) : of.faults({ x: value }, old[0] === undefined ? {} : { x: old[0] })
  return found.map(({ reason, field, message }) => `${reason} ${field}: ${message}`)
}

describe('the error of a failed rule', () => {
  it('has the path of the value and shows the value', () => {
    assert.deepEqual(faultsOf({ ...integer, ...rules('self > 5') }, 3), [
      'FieldValueInvalid x: Invalid value: 3: failed rule: self > 5',
    ])
    assert.deepEqual(faultsOf({ 'x-kubernetes-int-or-string': true, ...rules('self == 5') }, '5'), [
      'FieldValueInvalid x: Invalid value: "5": failed rule: self == 5',
    ])
    assert.deepEqual(faultsOf({ ...integer, ...rules('self > 5') }, 6), [])
  })

  it('has the message of the rule', () => {
    assert.deepEqual(faultsOf({ ...integer, ...rules({ rule: 'self > 5', message: ' too small ' }) }, 3), [
      'FieldValueInvalid x: Invalid value: 3: too small',
    ])
    const computed = { rule: 'self > 5', message: 'too small', messageExpression: '"want 6, not " + string(self)' }
    assert.deepEqual(faultsOf({ ...integer, ...rules(computed) }, 3), [
      'FieldValueInvalid x: Invalid value: 3: want 6, not 3',
    ])
  })

  it('has the static message if the message expression fails', () => {
    for (const messageExpression of ['string(1 / (self - 3))', "'  '", "'two\\nlines'", "['x'].map(a, a)[self]"])
      assert.deepEqual(
        faultsOf({ ...integer, ...rules({ rule: 'self > 5', message: 'too small', messageExpression }) }, 3),
        ['FieldValueInvalid x: Invalid value: 3: too small'],
      )
  })

  it('has the reason and the fieldPath of the rule', () => {
    const because = (reason: string) =>
      faultsOf({ ...object({ a: integer }), ...rules({ rule: 'false', message: 'm', reason, fieldPath: '.a' }) }, {})
    assert.deepEqual(because('FieldValueForbidden'), ['FieldValueForbidden x.a: Forbidden: m'])
    assert.deepEqual(because('FieldValueRequired'), ['FieldValueRequired x.a: Required value: m'])
    assert.deepEqual(because('FieldValueDuplicate'), ['FieldValueDuplicate x.a: Duplicate value'])
    assert.deepEqual(because('FieldValueInvalid'), ['FieldValueInvalid x.a: Invalid value: m'])
    const map = object(
      { m: { type: 'object', additionalProperties: object({ 'a.b': integer }) } },
      rules({ rule: 'false', fieldPath: ".m['k']['a.b']" }),
    )
    assert.deepEqual(faultsOf(map, {}), ['FieldValueInvalid x.m[k].a.b: Invalid value: failed rule: false'])
  })

  it('has no field at the root', () => {
    const root = new SchemaRules(structuralSchema({ type: 'object', ...rules('self.metadata.name == "a"') }), true)
    assert.deepEqual(
      root.faults({ apiVersion: 'g/v1', kind: 'K', metadata: { name: 'b' } }).map(({ field }) => field),
      ['<nil>'],
    )
  })
})

describe('rules', () => {
  it('of a value are evaluated before those of nested values', () => {
    const schema = object(
      {
        l: { type: 'array', items: { ...integer, ...rules('self == 0') }, ...rules('size(self) == 0') },
        m: { type: 'object', additionalProperties: { ...integer, ...rules('self == 0') } },
      },
      rules('!has(self.l)'),
    )
    assert.deepEqual(
      faultsOf(schema, { m: { k: 1 }, l: [0, 7] }).map((fault) => fault.split(' ')[1]),
      ['x:', 'x.l:', 'x.l[1]:', 'x.m[k]:'],
    )
  })

  it('are not evaluated for null, which counts as absent', () => {
    assert.deepEqual(faultsOf({ ...integer, nullable: true, ...rules('false') }, null), [])
    assert.deepEqual(faultsOf(object({ a: { ...integer, nullable: true } }, rules('!has(self.a)')), { a: null }), [])
    assert.deepEqual(
      faultsOf({ type: 'array', items: object({}, { nullable: true }), ...rules('self[0] == null') }, [null]),
      [],
    )
  })

  it('access fields by their escaped names', () => {
    assert.deepEqual(
      faultsOf(object({ 'a-b': integer, for: integer }, rules('self.a__dash__b == 1 && self.__for__ == 2')), {
        'a-b': 1,
        for: 2,
      }),
      [],
    )
  })

  it('parse durations in all formats that schemas accept', () => {
    const schema: SchemaSource = {
      type: 'array',
      items: { type: 'string', format: 'duration' },
      ...rules("self.all(d, d == duration('26h'))"),
    }
    assert.deepEqual(faultsOf(schema, ['26h', '1560m', '1 day 2 hours', '1d2h']), [])
    assert.equal(faultsOf(schema, ['1 week']).length, 1)
  })

  it('that fail to evaluate have the reason in their error', () => {
    assert.deepEqual(faultsOf(object({ a: integer }, rules('self.a > 1')), {}), [
      'FieldValueInvalid x: Invalid value: "object": no such key: a evaluating rule: self.a > 1',
    ])
    assert.deepEqual(faultsOf({ ...integer, ...rules({ rule: '1 / self > 1', message: 'm' }) }, 0), [
      'FieldValueInvalid x: Invalid value: "integer": division by zero evaluating rule: m',
    ])
    assert.deepEqual(faultsOf({ 'x-kubernetes-int-or-string': true, ...rules('self > 5') }, 'a'), [
      'FieldValueInvalid x: Invalid value: "": \'no such overload\': call arguments did not match a supported ' +
        'operator, function or macro signature for rule: self > 5',
    ])
  })

  it('compare sets and lists with keys without regard to order', () => {
    const lists = (list: SchemaSource): SchemaSource => ({ type: 'array', items: list, ...rules('self[0] == self[1]') })
    const atomic: SchemaSource = { type: 'array', items: integer }
    const set: SchemaSource = { ...atomic, 'x-kubernetes-list-type': 'set' }
    assert.deepEqual(
      faultsOf(lists(set), [
        [1, 2],
        [2, 1],
      ]),
      [],
    )
    assert.equal(
      faultsOf(lists(set), [
        [1, 2],
        [2, 3],
      ]).length,
      1,
    )
    assert.equal(
      faultsOf(lists(atomic), [
        [1, 2],
        [2, 1],
      ]).length,
      1,
    )
    assert.deepEqual(
      faultsOf(lists(keyed), [
        [{ k: 1, v: 1 }, { k: 2 }],
        [{ k: 2 }, { k: 1, v: 1 }],
      ]),
      [],
    )
    assert.equal(faultsOf(lists(keyed), [[{ k: 1, v: 1 }], [{ k: 1, v: 2 }]]).length, 1)
  })

  it('join sets and lists with keys without duplicates', () => {
    const set: SchemaSource = { type: 'array', items: integer, 'x-kubernetes-list-type': 'set' }
    assert.deepEqual(faultsOf({ ...set, ...rules('self + [3, 1] == [3, 2, 1]', 'size(self + [1]) == 2') }, [1, 2]), [])
    const joined: SchemaSource = {
      type: 'array',
      items: keyed,
      ...rules('(self[0] + self[1]).map(e, e.v) == [5, 2, 3]'),
    }
    assert.deepEqual(
      faultsOf(joined, [
        [
          { k: 1, v: 1 },
          { k: 2, v: 2 },
        ],
        [
          { k: 3, v: 3 },
          { k: 1, v: 5 },
        ],
      ]),
      [],
    )
  })

  it('compare fields that are preserved but not declared', () => {
    const schema = object({}, { 'x-kubernetes-preserve-unknown-fields': true, ...rules('self == oldSelf') })
    assert.deepEqual(faultsOf(schema, { a: { b: [1] } }, { a: { b: [1] } }), [])
    assert.equal(faultsOf(schema, { a: { b: [1] } }, { a: { b: [2] } }).length, 1)
  })
})

describe('transition rules', () => {
  const grows: SchemaSource = { ...integer, ...rules('self >= oldSelf') }

  it('are evaluated only if there is an old value', () => {
    assert.deepEqual(faultsOf(grows, 1), [])
    assert.deepEqual(faultsOf(grows, 1, undefined), [])
    assert.deepEqual(faultsOf(grows, 2, 1), [])
    assert.equal(faultsOf(grows, 1, 2).length, 1)
    assert.deepEqual(faultsOf({ ...grows, nullable: true }, 1, null), [])
  })

  it('correlate members of maps and items with keys', () => {
    assert.deepEqual(faultsOf({ type: 'object', additionalProperties: grows }, { a: 1, b: 1 }, { a: 2 }), [
      'FieldValueInvalid x[a]: Invalid value: 1: failed rule: self >= oldSelf',
    ])
    const known: SchemaSource = {
      type: 'array',
      items: object({ k: integer, v: grows }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }
    assert.deepEqual(
      faultsOf(
        known,
        [
          { k: 3, v: 0 },
          { k: 1, v: 1 },
        ],
        [
          { k: 1, v: 2 },
          { k: 2, v: 9 },
        ],
      ),
      ['FieldValueInvalid x[1].v: Invalid value: 1: failed rule: self >= oldSelf'],
    )
  })

  it('with optionalOldSelf are always evaluated', () => {
    const schema: SchemaSource = {
      ...integer,
      ...rules({ rule: 'oldSelf.hasValue() ? self >= oldSelf.value() : self == 0', optionalOldSelf: true }),
    }
    assert.deepEqual(faultsOf(schema, 0), [])
    assert.equal(faultsOf(schema, 1).length, 1)
    assert.deepEqual(faultsOf(schema, 6, 5), [])
    assert.equal(faultsOf(schema, 4, 5).length, 1)
  })
})

describe('unchanged values', () => {
  it('are admitted, unless the rule is a transition rule', () => {
    const strict: SchemaSource = { ...integer, ...rules('self > 5') }
    assert.deepEqual(faultsOf(strict, 3, 3), [])
    assert.equal(faultsOf(strict, 3, 4).length, 1)
    assert.equal(faultsOf({ ...integer, ...rules('self > oldSelf') }, 3, 3).length, 1)
    assert.deepEqual(
      faultsOf(object({ a: integer, b: integer }, rules('self.a > self.b')), { a: 1, b: 2 }, { a: 1, b: 2 }),
      [],
    )
    assert.equal(faultsOf(object({ a: integer, b: strict }), { a: 1, b: 2 }, { a: 2, b: 1 }).length, 1)
    assert.deepEqual(faultsOf(object({ a: integer, b: strict }), { a: 1, b: 2 }, { a: 2, b: 2 }), [])
  })

  it('are correlated in lists by keys, or by index without a list type', () => {
    const strict: SchemaSource = { ...integer, ...rules('self > 5') }
    assert.deepEqual(faultsOf({ type: 'array', items: strict }, [1, 9], [1]), [])
    assert.equal(faultsOf({ type: 'array', items: strict }, [9, 1], [1]).length, 1)
    assert.equal(faultsOf({ type: 'array', items: strict, 'x-kubernetes-list-type': 'set' }, [1, 9], [1]).length, 1)
    const known: SchemaSource = {
      type: 'array',
      items: object({ k: integer, v: strict }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }
    assert.deepEqual(
      faultsOf(
        known,
        [
          { k: 2, v: 9 },
          { k: 1, v: 1 },
        ],
        [{ k: 1, v: 1 }],
      ),
      [],
    )
    assert.equal(faultsOf(known, [{ k: 2, v: 1 }], [{ k: 1, v: 1 }]).length, 1)
  })
})

describe('the cost of rules at run time', () => {
  const many = Array.from({ length: 2000 }, (_, i) => i)

  it('is limited per rule, and evaluation stops at the limit', () => {
    const schema: SchemaSource = {
      type: 'array',
      items: { ...integer, ...rules('false') },
      ...rules('self.all(a, self.all(b, a >= 0 || b >= 0))', 'false'),
    }
    assert.deepEqual(faultsOf(schema, many), [
      'FieldValueInvalid x: Invalid value: "array": \'operation cancelled: actual cost limit exceeded\': no ' +
        'further validation rules will be run due to call cost exceeds limit for rule: self.all(a, self.all(b, a >= ' +
        '0 || b >= 0))',
    ])
  })

  it('is limited per object', () => {
    const costly = object({ l: { type: 'array', items: integer } }, rules('self.l.all(a, self.l.all(b, b >= 0))'))
    const found = faultsOf(
      { type: 'array', items: costly },
      Array.from({ length: 100 }, () => ({ l: many.slice(0, 300) })),
    )
    assert.equal(found.length, 1)
    assert.equal(
      found[0]?.replace(/\d+/, 'N'),
      'FieldValueInvalid x[N]: Invalid value: "object": validation failed due to running out of cost budget, no ' +
        'further validation rules will be run',
    )
  })
})

describe('rules that no longer compile', () => {
  it('cause an error for every value', () => {
    assert.match(
      faultsOf({ ...integer, ...rules('self ==', 'self > 5') }, 3).join('\n'),
      /"integer": rule compile error: compilation failed: ERROR: [\s\S]*failed rule: self > 5/,
    )
  })
})
