import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type SchemaSource, structuralSchema } from '../../machinery/structural-schema/index.ts'
import { compiledRules, selfTypeName } from './compiled-rule.ts'
import { declaredType } from './declared-type.ts'

type Make = (limit?: number) => SchemaSource

const scalar = (type: string): SchemaSource =>
  type === 'int-or-string'
    ? { 'x-kubernetes-int-or-string': true }
    : ['duration', 'date', 'date-time'].includes(type)
      ? { type: 'string', format: type }
      : { type }
const limited = <Limits extends object>(
  limit: number | undefined,
  limits: (limit: number) => Limits,
): Limits | object => (limit === undefined ? {} : limits(limit))
const list =
  (items: SchemaSource): Make =>
  (limit) => ({ type: 'array', items, ...limited(limit, (maxItems) => ({ maxItems })) })
const map =
  (others: SchemaSource): Make =>
  (limit) => ({
    type: 'object',
    additionalProperties: others,
    ...limited(limit, (maxProperties) => ({ maxProperties })),
  })
const text =
  (more: SchemaSource = {}): Make =>
  (limit) => ({ type: 'string', ...more, ...limited(limit, (maxLength) => ({ maxLength })) })
const record: SchemaSource = {
  type: 'object',
  required: ['required'],
  properties: { required: { type: 'string' }, optional: { type: 'string' } },
}

const replacing: Make = (limit) => ({
  type: 'object',
  properties: { str: text()(limit), before: text()(2), after: text()(4) },
})

/** Upstream's estimates without limits, and with one. */
const cases: readonly (readonly [
  what: string,
  make: Make,
  rule: string,
  cost: number,
  limit: number,
  limitedCost: number,
])[] = [
  ['numbers', list(scalar('number')), 'self.all(x, true)', 4718591, 10, 32],
  ['strings', list(scalar('string')), 'self.all(x, true)', 3145727, 20, 62],
  ['booleans', list(scalar('boolean')), 'self.all(x, true)', 1887437, 5, 17],
  ['lists', list(list(scalar('number'))()), 'self.all(x, true)', 3145727, 100, 302],
  ['objects', list(record), 'self.all(x, true)', 555128, 50, 152],
  ['a map of numbers', map(scalar('number')), 'self.all(x, true)', 1348169, 10, 32],
  ['a map of strings', map(scalar('string')), 'self.all(x, true)', 1179647, 3, 11],
  ['a map of booleans', map(scalar('boolean')), 'self.all(x, true)', 943718, 100, 302],
  ['a part of a string', text(), "self.contains('test')", 314574, 10, 5],
  ['the beginning of a string', text(), "self.startsWith('test')", 2, 15, 2],
  ['the end of a string', text(), "self.endsWith('test')", 2, 30, 2],
  ['joined strings', text(), 'size(self + "hello") > size("hello")', 314578, 4, 7],
  ['one of numbers', list(scalar('number')), 'self[1] == 0.0', 2, 5000, 2],
  ['one of strings', list(scalar('string')), 'self[1] == self[1]', 314577, 8, 314577],
  ['a pattern', text(), 'self.matches("x")', 314574, 50, 22],
  ['a pattern for an empty string', text(), '"".matches("(((((((((())))))))))[0-9]")', 7, 10, 7],
  ['an empty pattern', text(), 'self.matches("")', 1, 100, 1],
  ['values of a map', (limit) => map(text()(limit) ?? {})(limit), 'self.all(x, x.contains(self[x]))', 2752507, 10, 72],
  ['a list of at most nothing', list(scalar('number')), 'self[3] == 0.0', 2, 0, 2],
  ['a map of at most nothing', map(scalar('number')), 'self["x"] == 0.0', 2, 0, 2],
  ['an empty string', text(), 'self == "x"', 2, 0, 1],
  ['empty bytes', text({ format: 'byte' }), 'self == b"x"', 2, 0, 1],
  ['more than a request holds', list(scalar('number')), 'self.all(x, x == 0.0)', 6291454, 3 * 1024 * 2048, 25165826],
  [
    'objects in maps in lists',
    (limit) => list(map(record)(limit))(limit),
    'self.all(x, x["y"].required == "z")',
    7340027,
    10,
    72,
  ],
  [
    'objects in maps in an unlimited list',
    (limit) => list(map(record)(limit))(),
    'self.all(x, x["y"].required == "z")',
    7340027,
    10,
    7340027,
  ],
  ['numbers or strings', list(scalar('int-or-string')), 'self.all(x, true)', 4718591, 10, 32],
  ['one of numbers or strings', list(scalar('int-or-string')), 'self[0] == 5', 3, 10, 3],
  ['one of booleans', list(scalar('boolean')), 'self[0] == false', 2, 25, 2],
  ['one of objects', list(record), 'self[0] == null', 2, 422, 2],
  ['one of lists', list(list(scalar('number'))()), 'self[0][0] == -1.0', 3, 51, 3],
  ['maps', (limit) => list(map(scalar('number'))(limit))(limit), 'self.all(x, x.y == 25.2)', 6291452, 12, 74],
  ['one of maps', list(map(scalar('number'))()), 'self[0].x > 2.0', 4, 3000, 4],
  ['durations', list(scalar('duration')), 'self.all(x, true)', 2359295, 5, 17],
  ['one of durations', list(scalar('duration')), 'self[0].getHours() == 2', 4, 525, 4],
  ['dates', list(scalar('date')), 'self.all(x, true)', 725936, 15, 47],
  ['one of dates', list(scalar('date')), 'self[2].getDayOfMonth() == 13', 4, 42, 4],
  ['times', list(scalar('date-time')), 'self.all(x, true)', 428963, 25, 77],
  ['one of times', list(scalar('date-time')), 'self[2].getMinutes() == 45', 4, 99, 4],
  ['a map of numbers or strings', map(scalar('int-or-string')), 'self.all(x, true)', 1348169, 15, 47],
  ['a map of objects', map(record), 'self.all(x, true)', 428963, 20, 62],
  ['a map of maps', map(map(scalar('number'))()), 'self.all(x, true)', 1179647, 10, 32],
  ['a map of lists', map(list(scalar('number'))()), 'self.all(x, true)', 1179647, 25, 77],
  ['a map of durations', map(scalar('duration')), 'self.all(x, true)', 1048577, 5, 17],
  ['a map of dates', map(scalar('date')), 'self.all(x, true)', 524288, 10, 32],
  ['a map of times', map(scalar('date-time')), 'self.all(x, true)', 349526, 25, 77],
  ['what a pattern finds', text(), "self.find('[0-9]+') == ''", 629147, 10, 11],
  ['a joined list', (limit) => list(text()(limit))(limit), "self.join(' ') == 'aa bb'", 329853068905, 10, 43],
  [
    'whether a list is in order',
    (limit) => list(text()(limit))(limit),
    'self.isSorted() == true',
    329854432052,
    10,
    52,
  ],
  [
    'a text with another part',
    replacing,
    "self.str.replace(self.before, self.after) == 'does not matter'",
    629154,
    4,
    12,
  ],
  [
    'parts of a text',
    (limit) => ({ type: 'object', properties: { str: text()(limit), separator: text()(limit) } }),
    'self.str.split(self.separator) == []',
    629160,
    10,
    22,
  ],
  ['lower case', text(), "self.lowerAscii() == 'lower!'", 314575, 10, 6],
  ['sizes', map(scalar('integer')), 'oldSelf.size() == self.size()', 5, 10, 5],
  ['two times', map(scalar('date-time')), 'self["a"] == self["b"]', 8, 7, 8],
  ['two durations', map(scalar('duration')), 'self["c"] == self["d"]', 8, 42, 8],
  ['one of some words', text({ enum: ['A', 'B', 'C', 'LongValue'] }), "self.contains('A')", 2, 1000, 401],
]

function estimate(source: SchemaSource, rule: string): number {
  const schema = structuralSchema({ ...source, 'x-kubernetes-validations': [{ rule }] })
  const type = declaredType(schema, false, selfTypeName)
  assert.ok(type)
  const [compiled] = compiledRules(schema, type)
  assert.ok(compiled?.program, compiled?.fault)
  return compiled.program.estimatedCost.max
}

describe('the estimated cost of a rule', () => {
  for (const [what, make, rule, cost, limit, limitedCost] of cases)
    it(`${what}: ${rule}`, () => {
      assert.equal(estimate(make(), rule), cost, 'without limits')
      assert.equal(estimate(make(limit), rule), limitedCost, `with a limit of ${limit}`)
    })

  it('chains that begin at a type or a computed value use the sizes of the schema with the rule', () => {
    const source: SchemaSource = {
      type: 'object',
      properties: { words: list(scalar('string'))(), port: scalar('int-or-string') },
    }
    assert.equal(estimate(source, 'type(self.port) == int'), 4)
    assert.equal(estimate(source, "type(self.port) == string && self.port == 'http'"), 7)
    assert.equal(estimate(source, "self.words.map(w, w).exists(w, w == 'a')"), 18_874_364)
  })

  it('the cost of a pattern depends on the text only if matches is called as a member', () => {
    const pattern = "'^([0-9]{1,5}(h|m|s|ms)){1,4}$'"
    assert.equal(estimate({ type: 'string' }, `matches(self, ${pattern})`), 2)
    assert.equal(estimate({ type: 'string' }, `self.matches(${pattern})`), 2_516_585)
    assert.equal(estimate({ type: 'string', maxLength: 10 }, `self.matches(${pattern})`), 41)
  })

  it('a rule for unique names is within the limit for at most 304 items', () => {
    const named = (count: number) => list({ type: 'object', properties: { name: text()(253) } })(count)
    const unique = 'self.all(one, self.exists_one(other, one.name == other.name))'
    assert.equal(estimate(named(304), unique), 9_982_754)
    assert.equal(estimate(named(305), unique), 10_048_532)
  })
})
