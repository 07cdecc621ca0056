import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type SchemaSource, structuralSchema, type ValidationRule } from '../../machinery/structural-schema/index.ts'
import { definitionFaults, SchemaRules } from './index.ts'

const text: SchemaSource = { type: 'string' }
const whole: SchemaSource = { type: 'integer' }
const timestamp: SchemaSource = { type: 'string', format: 'date-time' }
const record = (properties: Record<string, SchemaSource>, more: SchemaSource = {}): SchemaSource => ({
  type: 'object',
  properties,
  ...more,
})

/** Returns the messages of a rule for a value and its old value. Empty if the rule is true. */
function messagesOf(schema: SchemaSource, rule: string | ValidationRule, value: unknown, old?: unknown): string {
  const source = { ...schema, 'x-kubernetes-validations': [typeof rule === 'string' ? { rule } : rule] }
  const faults = definitionFaults(source, 'schema', { faulty: new Set() })
  const found = faults.length > 0 ? faults : new SchemaRules(structuralSchema(source), false).faults(value, old)
  return found.map(({ message }) => message).join('\n')
}

/** A schema, a value, and rules that are true. */
const trueRules: readonly (readonly [string, SchemaSource, unknown, readonly string[]])[] = [
  [
    'timestamps retain their time zone, but their parts are in UTC',
    timestamp,
    '2024-05-06T07:08:09.5+02:00',
    [
      'self.getHours() == 5',
      "self.getHours('+02:00') == 7",
      "string(self) == '2024-05-06T07:08:09.5+02:00'",
      "string(self - duration('8h')) == '2024-05-05T23:08:09.5+02:00'",
      "self == timestamp('2024-05-06T05:08:09.5Z')",
      "string(timestamp('2024-05-06T00:00:00-00:00')) == '2024-05-06T00:00:00Z'",
      "string(timestamp('2024-05-06T00:00:00-03:30')) == '2024-05-06T00:00:00-03:30'",
    ],
  ],
  [
    'alternatives to a missing value are evaluated only if it is missing',
    record({ here: text, gone: text, also: text }),
    { here: 'x' },
    [
      "self.?here.orValue(self.gone) == 'x'",
      'self.?here.or(optional.of(self.gone)).hasValue()',
      "self.?gone.or(self.?also).orValue('y') == 'y'",
      "self.?gone.orValue('y') == 'y'",
    ],
  ],
  [
    'the overload for a list of type dyn depends on its first element',
    whole,
    1,
    [
      'dyn([1.5, 2.5]).sum() == 4.0',
      "dyn(['b', 'a']).min() == 'a'",
      'dyn([]).sum() == 0',
      "dyn([duration('1s'), duration('1m')]).sum() == duration('61s')",
    ],
  ],
  [
    'the zero timestamp is the start of year 1',
    whole,
    1,
    [
      "!optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()",
      "optional.ofNonZeroValue(timestamp('1970-01-01T00:00:00Z')).hasValue()",
    ],
  ],
]

const short: SchemaSource = { type: 'string', maxLength: 63 }
const percentage: SchemaSource = { 'x-kubernetes-int-or-string': true, maxLength: 20 }
const list = (items: SchemaSource, more: SchemaSource = {}): SchemaSource => ({
  type: 'array',
  maxItems: 16,
  items,
  ...more,
})
const map = (additionalProperties: SchemaSource): SchemaSource => ({
  type: 'object',
  maxProperties: 16,
  additionalProperties,
})
const named = list(record({ name: short, weight: whole }, { required: ['name'] }), {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
})

/** A schema, a rule, values for which it is true, and values for which it is false. */
const valueCases: readonly (readonly [SchemaSource, string, readonly unknown[], readonly unknown[]])[] = [
  // Combinations of fields.
  [
    record({ a: text, b: text }),
    '[has(self.a), has(self.b)].filter(x, x).size() == 1',
    [{ a: '' }, { b: 'x' }],
    [{}, { a: '', b: '' }],
  ],
  [
    record({ a: text, b: text }),
    '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1',
    [{}, { a: '' }],
    [{ a: '', b: '' }],
  ],
  [record({ a: text, b: text }), 'has(self.a) == has(self.b)', [{}, { a: '', b: '' }], [{ a: '' }, { b: '' }]],
  [
    record({ kind: short, data: record({}) }),
    "self.kind == 'Data' ? has(self.data) : !has(self.data)",
    [{ kind: 'Data', data: {} }, { kind: 'None' }],
    [{ kind: 'Data' }, { kind: 'None', data: {} }],
  ],
  [
    record({ a: record({ on: { type: 'boolean' } }) }),
    'self.?a.?on.orValue(false)',
    [{ a: { on: true } }],
    [{}, { a: {} }, { a: { on: false } }],
  ],
  [record({ a: { type: 'string', nullable: true } }), 'has(self.a)', [{ a: '' }], [{}, { a: null }]],
  // Numbers, percentages and quantities.
  [
    record({ min: whole, max: whole }),
    '!has(self.min) || !has(self.max) || self.min <= self.max',
    [{}, { min: 1 }, { min: 1, max: 1 }],
    [{ min: 2, max: 1 }],
  ],
  [percentage, "type(self) == int ? self >= 0 : self.matches('^[0-9]+%$')", [0, '10%'], [-1, '10', '%']],
  [
    percentage,
    'type(self) == int ? int(self) > 0 : quantity(string(self)).isGreaterThan(quantity("0"))',
    [1, '1Gi', '1m'],
    [0, '0', '-1k'],
  ],
  [short, "isQuantity(self) && quantity(self).compareTo(quantity('1Gi')) >= 0", ['1Gi', '2000M'], ['1G', 'much']],
  [{ type: 'number' }, 'self > 0.0 && self <= 1.0', [1, 0.5], [0, 1.5]],
  [{ type: 'number' }, 'self * 4.0 == double(int(self * 4.0))', [1, 0.25], [0.3]],
  // Strings and their formats.
  [short, "self.split('.').all(s, size(s) > 0 && size(s) <= 5)", ['a.b', 'short'], ['a..b', 'longer.x']],
  [
    short,
    "!self.startsWith('kube-') && !self.contains('--') && self == self.lowerAscii()",
    ['web'],
    ['kube-x', 'a--b', 'Web'],
  ],
  [short, "self.find('[0-9]+') == '' || int(self.find('[0-9]+')) < 100", ['a', 'a7b'], ['a123']],
  [short, '!format.dns1123Label().validate(self).hasValue()', ['a-b'], ['a_b', '-a']],
  [
    short,
    "isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname() != ''",
    ['https://x:1/y'],
    ['ftp://x', 'x', 'http:///y'],
  ],
  [short, 'isCIDR(self) && cidr(self) == cidr(self).masked()', ['10.0.0.0/8', 'fd00::/8'], ['10.1.0.0/8', '10.0.0.0']],
  [
    short,
    'isIP(self) && ip(self).family() == 4 && !ip(self).isLoopback()',
    ['10.0.0.1'],
    ['::1', '127.0.0.1', '10.0.0'],
  ],
  [short, "self == 'Never' || duration(self) >= duration('1s')", ['Never', '1m', '1000ms'], ['999ms', '-1h', 'soon']],
  [
    { type: 'string', format: 'duration' },
    "self >= duration('1s') && self.getSeconds() % 60 == 0",
    ['1m', '1h'],
    ['1s', '0s'],
  ],
  [
    record({ from: timestamp, to: timestamp }),
    "self.to - self.from <= duration('24h')",
    [{ from: '2024-01-01T00:00:00Z', to: '2024-01-02T01:00:00+01:00' }],
    [{ from: '2024-01-01T00:00:00Z', to: '2024-01-02T00:00:01Z' }],
  ],
  // Lists and maps.
  [list(short), 'self.all(x, self.exists_one(y, x == y))', [[], ['a', 'b']], [['a', 'a']]],
  [list(short), "!('*' in self) || self.size() == 1", [['*'], ['a', 'b']], [['*', 'a']]],
  [
    list(short),
    'self.all(i, x, i == 0 || self[i - 1] < x)',
    [[], ['a', 'b']],
    [
      ['b', 'a'],
      ['a', 'a'],
    ],
  ],
  [
    named,
    "self.exists(x, x.name == 'main') && self.map(x, has(x.weight), x.weight).sum() <= 100",
    [
      [{ name: 'main' }],
      [
        { name: 'main', weight: 99 },
        { name: 'b', weight: 1 },
      ],
    ],
    [
      [],
      [
        { name: 'main', weight: 99 },
        { name: 'b', weight: 2 },
      ],
    ],
  ],
  [
    named,
    'self.all(x, !has(x.weight) || x.weight in [0, 1, 2])',
    [[{ name: 'a' }], [{ name: 'a', weight: 2 }]],
    [[{ name: 'a', weight: 3 }]],
  ],
  [
    map(short),
    "self.all(k, k.size() <= 5 && self[k].matches('^[a-z]*$'))",
    [{}, { a: 'b' }],
    [{ longer: '' }, { a: 'B' }],
  ],
  [map(short), "self.all(k, v, k.startsWith('x-') || v != '')", [{ 'x-a': '' }, { a: 'b' }], [{ a: '' }]],
  [map(percentage), "!('cpu' in self) || !('gpu' in self)", [{ cpu: 1 }, { gpu: '1' }], [{ cpu: 1, gpu: 1 }]],
  [
    record({ metadata: record({ name: text }), spec: record({ size: whole }) }),
    "self.?spec.size.orValue(1) == 1 || self.metadata.name.endsWith('-big')",
    [{}, { metadata: { name: 'x-big' }, spec: { size: 2 } }],
    [{ metadata: { name: 'x' }, spec: { size: 2 } }],
  ],
]

/** A schema, a rule, old and new values for which it is true, and those for which it is false. */
const changeCases: readonly (readonly [
  SchemaSource,
  string | ValidationRule,
  readonly (readonly [unknown, unknown])[],
  readonly (readonly [unknown, unknown])[],
])[] = [
  [
    text,
    'self == oldSelf',
    [
      [undefined, 'a'],
      ['a', 'a'],
    ],
    [['a', 'b']],
  ],
  [
    record({ a: text }),
    '!has(oldSelf.a) || has(self.a) && self.a == oldSelf.a',
    [
      [{}, { a: '' }],
      [{ a: 'x' }, { a: 'x' }],
    ],
    [
      [{ a: 'x' }, {}],
      [{ a: 'x' }, { a: 'y' }],
    ],
  ],
  [
    whole,
    { rule: 'oldSelf.hasValue() ? self >= oldSelf.value() : self == 1', optionalOldSelf: true },
    [
      [undefined, 1],
      [1, 2],
    ],
    [
      [undefined, 2],
      [2, 1],
    ],
  ],
  [
    list(short, { 'x-kubernetes-list-type': 'set' }),
    'oldSelf.all(x, x in self)',
    [
      [['a'], ['b', 'a']],
      [[], []],
    ],
    [[['a', 'b'], ['a']]],
  ],
  [
    named,
    'oldSelf.all(x, self.exists(y, x.name == y.name))',
    [[[{ name: 'a' }], [{ name: 'b' }, { name: 'a', weight: 1 }]]],
    [[[{ name: 'a' }], [{ name: 'b' }]]],
  ],
  [
    record({ phase: short }),
    "oldSelf.phase == self.phase || oldSelf.phase == 'Open' && self.phase in ['Done', 'Failed']",
    [[{ phase: 'Open' }, { phase: 'Done' }]],
    [[{ phase: 'Done' }, { phase: 'Open' }]],
  ],
]

suite('typical rules of projects', () => {
  for (const [name, schema, value, rules] of trueRules)
    test(name, () => {
      for (const rule of rules) assert.equal(messagesOf(schema, rule, value), '', rule)
    })

  test('accept valid values and changeCases, and reject invalid ones', () => {
    for (const [schema, rule, good, bad] of valueCases) {
      for (const value of good) assert.equal(messagesOf(schema, rule, value), '', `${rule}: ${JSON.stringify(value)}`)
      for (const value of bad)
        assert.match(
          messagesOf(schema, rule, value),
          /failed rule: |evaluating rule: /,
          `${rule}: ${JSON.stringify(value)}`,
        )
    }
    for (const [schema, rule, good, bad] of changeCases) {
      for (const [old, value] of good)
        assert.equal(messagesOf(schema, rule, value, old), '', `${JSON.stringify([rule, old, value])}`)
      for (const [old, value] of bad)
        assert.match(messagesOf(schema, rule, value, old), /failed rule: /, `${JSON.stringify([rule, old, value])}`)
    }
  })

  test('access fields with reserved names only by their escaped names', () => {
    const schema = record({ true: whole, in: whole, namespace: text })
    assert.equal(
      messagesOf(schema, "self.__true__ == 1 && self.__in__ == 2 && self.__namespace__ == 'a'", {
        true: 1,
        in: 2,
        namespace: 'a',
      }),
      '',
    )
    assert.match(
      messagesOf(schema, 'self.true == 1', {}),
      /ERROR: <input>:1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER/,
    )
    assert.match(messagesOf(schema, 'self.in == 1', {}), /mismatched input 'in' expecting IDENTIFIER/)
    assert.match(messagesOf(schema, "self.namespace == 'a'", {}), /undefined field 'namespace'/)
  })

  test('with too many operators are rejected without a position', () => {
    const chain = (length: number) => Array(length).fill('self').join(' == ')
    assert.equal(messagesOf({ type: 'boolean' }, chain(250), true), '')
    assert.match(
      messagesOf({ type: 'boolean' }, chain(251), true),
      /compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded$/,
    )
  })
})
