import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { adapt, environment } from '../index.ts'
import { bindingsLibrary } from '../libraries/bindings.ts'
import { dynType, intType, listType, mapType, objectType, stringType, timestampType } from '../types.ts'

const item = objectType('Item', { k: stringType, v: stringType, v2: stringType })
const self = objectType('Self', {
  i: intType,
  j: intType,
  d: dynType,
  s: stringType,
  t: timestampType,
  array: listType(intType),
  set: listType(intType),
  strings: listType(stringType),
  map: mapType(stringType, intType),
  listMap: listType(item),
  lists: listType(listType(item)),
  a: objectType('A', { b: intType, c: intType }),
  something: dynType,
})
const object = adapt(
  {
    i: 5,
    j: 5,
    d: 10.5,
    s: 'Rook takes 👑',
    t: '2011-08-18T19:03:37.01+01:00',
    array: [1, 1, 2, 2, 3, 3, 4, 5],
    set: [1, 2, 3, 4, 5],
    strings: ['a', 'b', 'c'],
    map: { b: 1, d: 2 },
    listMap: [
      { k: 'a1', v: 'b1' },
      { k: 'a2', v: 'b2' },
      { k: 'a3', v: 'b3', v2: 'z' },
    ],
    lists: [
      [
        { k: 'a', v: '1' },
        { k: 'b', v: '2' },
      ],
      [
        { k: 'a', v: '1' },
        { k: 'b', v: '2' },
      ],
    ],
    a: { b: 1 },
    something: '25%',
  },
  self,
)
const env = environment({ variables: { self } })

/** The costs of upstream's interpreter, which it guarantees not to change. */
const known: Readonly<Record<string, number>> = {
  'self.i == self.j': 5,
  'type(self.i) == int': 4,
  'self.i + 1 == 2147483647 + 1': 5,
  'double(self.i) < 10.0': 4,
  'double(5) < 10.0': 1,
  "self.s.startsWith('Rook')": 4,
  "!self.s.startsWith('knight')": 5,
  "self.s.matches('^[^0-9]*$')": 8,
  "!self.s.matches('^[0-9]*$')": 7,
  'size(self.s) == 12': 4,
  "self.t == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')": 4,
  "self.t.getDate('01:00') == 18": 4,
  'type(self.t) == google.protobuf.Timestamp': 4,
  'string(self.i) == self.s': 6,
  "self.s in ['Pending', 'Available']": 2,
  "'x' in self.strings": 5,
  'self.set[0] in self.strings.map(x, 1)': 15,
  'self.strings + self.strings == ["a", "b", "c", "a", "b", "c"]': 6,
  'self.strings == ["a", "b", "c"]': 3,
  'self.lists[0] == self.lists[1]': 7,
  'self.lists[0] == [self.lists[0][0], self.lists[0][1]]': 22,
  'has(self.a.b)': 2,
  '!has(self.a.c)': 3,
  "'b' in self.map": 3,
  "!('a' in self.map)": 4,
  '!has(self.map.a)': 3,
  'self.map.all(k, self.map[k] > 0)': 17,
  'self.map.exists_one(k, self.map[k] == 2)': 14,
  '!self.map.exists_one(k, self.map[k] > 0)': 17,
  'size(self.map.filter(k, self.map[k] > 1)) == 1': 26,
  'has(self.listMap[0].v)': 3,
  "self.listMap.all(m, m.k.startsWith('a'))": 21,
  "self.listMap.all(m, !has(m.v2) || m.v2 == 'z')": 21,
  "self.listMap.exists(m, m.k.endsWith('1'))": 13,
  "self.listMap.exists_one(m, m.k == 'a3')": 15,
  "!self.listMap.all(m, m.k.endsWith('1'))": 18,
  "!self.listMap.exists(m, m.v == 'x')": 25,
  "!self.listMap.exists_one(m, m.k.startsWith('a'))": 20,
  "size(self.listMap.filter(m, m.k == 'a1')) == 1": 27,
  "self.listMap.exists(m, m.k == 'a1' && m.v == 'b1')": 16,
  "self.listMap.map(m, m.v).exists(v, v == 'b1')": 55,
  "self.listMap.exists(m, has(m.v2) && m.v2 == 'z')": 21,
  "!self.listMap.all(m, has(m.v2) && m.v2 != 'z')": 10,
  "self.listMap.exists_one(m, has(m.v2) && m.v2 == 'z')": 12,
  "self.listMap.filter(m, has(m.v2) && m.v2 == 'z').size() == 1": 24,
  "self.listMap.map(m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1": 25,
  "self.listMap.filter(m, has(m.v2) && m.v2 == 'z').map(m, m.v2).size() == 1": 39,
  "self.listMap.exists(m, m.v2 == 'z')": 24,
  "!self.listMap.all(m, m.v2 != 'z')": 22,
  '2 in self.array': 10,
  'self.array.all(e, e > 0)': 43,
  'self.array.exists(e, e > 2)': 36,
  'self.array.exists_one(e, e > 4)': 22,
  '!self.array.all(e, e < 2)': 21,
  '!self.array.exists(e, e < 0)': 52,
  '!self.array.exists_one(e, e == 2)': 25,
  'size(self.array.filter(e, e%2 == 0)) == 3': 68,
  'self.array.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)': 194,
  'self.set.map(e, e * 20).filter(e, e > 50).exists_one(e, e == 60)': 133,
  "type(self.something) == int ? self.something == 1 : self.something == '25%'": 7,
  "type(self.something) == string && self.something == '25%'": 7,
  "self.something == 1 || self.something == '25%'": 6,
  "self.something != ['anything']": 3,
  "type(self.something) == string && self.something.matches(r'(\\d+(\\.\\d+)?%)')": 10,
}

suite('the cost of evaluation', () => {
  for (const [source, cost] of Object.entries(known))
    test(source, () => {
      const compiled = env.compile(source)
      assert.ok('program' in compiled, 'errors' in compiled ? compiled.errors : '')
      assert.equal(compiled.program.evaluate({ self: object }).cost, cost)
    })
})

test('evaluation stops at its cost limit, and no operator absorbs that error', () => {
  const many = adapt(Array(1000).fill(1), listType(intType))
  const compiled = environment({ variables: { many: listType(intType) } }).compile(
    'many.all(a, many.all(b, many.all(c, a + b + c > 0))) || true',
  )
  assert.ok('program' in compiled)
  const outcome = compiled.program.evaluate({ many })
  assert.ok('error' in outcome && outcome.exceeded)
  assert.equal(outcome.error, 'operation cancelled: actual cost limit exceeded')
})

test('loops whose iterations cost nothing are limited, too', () => {
  const many = adapt(Array(5000).fill(1), listType(intType))
  const compiled = environment({ variables: { many: listType(intType) } }).compile(
    'many.map(a, many.filter(b, false).size() + many.filter(c, false).size())',
  )
  assert.ok('program' in compiled)
  const outcome = compiled.program.evaluate({ many })
  assert.ok('error' in outcome && outcome.exceeded)
})

test('comparison of values with many shared parts is limited', () => {
  let source = 'a24 == b24'
  for (let depth = 24; depth > 0; depth--)
    for (const name of ['a', 'b'])
      source = `cel.bind(${name}${depth}, [${name}${depth - 1}, ${name}${depth - 1}], ${source})`
  const compiled = environment({ libraries: [bindingsLibrary], variables: { a0: intType, b0: intType } }).compile(
    source,
  )
  assert.ok('program' in compiled, 'errors' in compiled ? compiled.errors : '')
  const outcome = compiled.program.evaluate({ a0: 1n, b0: 1n })
  assert.ok('error' in outcome && outcome.exceeded)
})
