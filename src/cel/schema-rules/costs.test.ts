import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type SchemaSource, structuralSchema } from '../../machinery/structural-schema/index.ts'
import { adapt } from '../index.ts'
import { compiledRules, selfTypeName } from './compiled-rule.ts'
import { declaredType } from './declared-type.ts'

const string: SchemaSource = { type: 'string' }
const integer: SchemaSource = { type: 'integer' }
const number: SchemaSource = { type: 'number' }
const list = (items: SchemaSource, more: SchemaSource = {}): SchemaSource => ({ type: 'array', items, ...more })
const keyed = (items: SchemaSource): SchemaSource =>
  list(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] })
const map = (others: SchemaSource): SchemaSource => ({ type: 'object', additionalProperties: others })
const object = (properties: Record<string, SchemaSource>): SchemaSource => ({ type: 'object', properties })
/** Fields `val1`, `val2` and so on. */
const values = <T>(...of: readonly T[]): Record<string, T> =>
  Object.fromEntries(of.map((value, i) => [`val${i + 1}`, value]))

interface Case {
  readonly schema: SchemaSource
  readonly value: unknown
  /** Upstream's cost per rule. All rules are true. */
  readonly costs: Readonly<Record<string, number>>
}

const cases: Readonly<Record<string, Case>> = {
  numbers: {
    schema: object(values(integer, number)),
    value: values<unknown>(5, 10.5),
    costs: {
      'type(self.val1) == int': 4,
      'self.val1 + 1 == 5 + 1': 5,
      'double(self.val1) < self.val2': 6,
      'self.val1 < int(self.val2)': 6,
      'double(5) < 10.0': 1,
      'double(self.val1) < 10.0': 4,
    },
  },
  strings: {
    schema: object(values(string)),
    value: values('Rook takes 👑'),
    costs: {
      "self.val1.startsWith('Rook')": 4,
      "!self.val1.startsWith('knight')": 5,
      "self.val1.matches('^[^0-9]*$')": 8,
      "!self.val1.matches('^[0-9]*$')": 7,
      'type(self.val1) == string': 4,
      'size(self.val1) == 12': 4,
      "self.val1.charAt(3) == 'k'": 4,
      "self.val1.indexOf('o') == 1": 4,
      "self.val1.replace(' ', 'x') == 'Rookxtakesx👑'": 7,
      "self.val1.split(' ') == ['Rook', 'takes', '👑']": 6,
      "self.val1.substring(5) == 'takes 👑'": 5,
      "self.val1.substring(4, 10).trim() == 'takes'": 6,
      "self.val1.upperAscii() == 'ROOK TAKES 👑'": 6,
    },
  },
  bytes: {
    schema: object(values<SchemaSource>({ ...string, format: 'byte' }, { ...string, format: 'byte' })),
    value: values('QUI=', 'QUI='),
    costs: {
      'self.val1 == self.val2': 5,
      "self.val1 == b'AB'": 3,
      'type(self.val1) == bytes': 4,
      'size(self.val1) == 2': 4,
    },
  },
  times: {
    schema: object(
      values<SchemaSource>(
        { ...string, format: 'duration' },
        { ...string, format: 'date' },
        { ...string, format: 'date-time' },
      ),
    ),
    value: values('1h2m3s4ms', '1997-07-16', '2011-08-18T19:03:37.010000000+01:00'),
    costs: {
      "self.val1 == duration('1h2m') + duration('3s4ms')": 4,
      'self.val1.getHours() == 1': 4,
      'type(self.val1) == google.protobuf.Duration': 4,
      'self.val2.getDate() == 16': 4,
      "self.val3 == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')": 4,
      "self.val3.getDate('01:00') == 18": 4,
      'type(self.val3) == google.protobuf.Timestamp': 4,
    },
  },
  enums: {
    schema: object({ word: { ...string, enum: ['Pending', 'Available', 'Bound'] } }),
    value: { word: 'Pending' },
    costs: { "self.word == 'Pending'": 3, "self.word in ['Pending', 'Available']": 2 },
  },
  lists: {
    schema: object(values(list(integer), list(integer))),
    value: values([1, 2, 3], [1, 2, 3]),
    costs: {
      '1 in self.val1': 5,
      'self.val2[0] in self.val1': 8,
      '!(0 in self.val1)': 6,
      'self.val1 + self.val2 == [1, 2, 3, 1, 2, 3]': 6,
      'self.val1 + [4, 5] == [1, 2, 3, 4, 5]': 4,
    },
  },
  sets: {
    schema: object(
      values(list(string, { 'x-kubernetes-list-type': 'set' }), list(string, { 'x-kubernetes-list-type': 'set' })),
    ),
    value: values(['a', 'b', 'c'], ['a', 'c', 'b']),
    costs: {
      "self.val1 == ['c', 'b', 'a']": 3,
      'self.val1 == self.val2': 5,
      "'a' in self.val1": 5,
      'self.val2[0] in self.val1': 8,
      "!('x' in self.val1)": 6,
      "self.val1 + self.val2 == ['a', 'b', 'c']": 6,
      "self.val1 + ['c', 'd'] == ['a', 'b', 'c', 'd']": 4,
    },
  },
  'lists with keys': {
    schema: object({ objs: list(keyed(object({ k: string, v: string }))) }),
    value: {
      objs: [
        [
          { k: 'a', v: '1' },
          { k: 'b', v: '2' },
        ],
        [
          { k: 'b', v: '2' },
          { k: 'a', v: '1' },
        ],
        [
          { k: 'b', v: '3' },
          { k: 'a', v: '1' },
        ],
        [{ k: 'c', v: '4' }],
      ],
    },
    costs: {
      'self.objs[0] == self.objs[1]': 7,
      'self.objs[0] + self.objs[2] == self.objs[2]': 11,
      'self.objs[2] + self.objs[0] == self.objs[0]': 11,
      'self.objs[0] == [self.objs[0][0], self.objs[0][1]]': 22,
      'self.objs[0] == [self.objs[0][1], self.objs[0][0]]': 22,
      'self.objs[2] + [self.objs[0][0], self.objs[0][1]] == self.objs[0]': 26,
      'size(self.objs[0] + [self.objs[3][0]]) == 3': 20,
    },
  },
  maps: {
    schema: object({ val: map(integer), ...values(map(string), map(string)) }),
    value: { val: { b: 1, d: 2 }, ...values({ k1: 'a', k2: 'b' }, { k2: 'b', k1: 'a' }) },
    costs: {
      'self.val1 == self.val2': 5,
      "'k1' in self.val1": 3,
      "!('k3' in self.val1)": 4,
      "self.val1 == {'k1': 'a', 'k2': 'b'}": 3,
      '!has(self.val.a)': 3,
      'has(self.val.b)': 2,
      'self.val.all(k, self.val[k] > 0)': 17,
      'self.val.exists_one(k, self.val[k] == 2)': 14,
      '!self.val.exists_one(k, self.val[k] > 0)': 17,
      'size(self.val) == 2': 4,
      'size(self.val.filter(k, self.val[k] > 1)) == 1': 26,
    },
  },
  objects: {
    schema: object({
      a: object({ b: integer, c: integer, d: { ...integer, nullable: true } }),
      a1: object({ b1: object({ c1: integer }), d2: object({ e2: integer }) }),
      objs: list(object({ f1: string, f2: string })),
    }),
    value: {
      a: { b: 1, d: null },
      a1: { b1: { c1: 4 } },
      objs: [
        { f1: 'a', f2: 'b' },
        { f1: 'a', f2: 'b' },
      ],
    },
    costs: {
      'self.objs[0] == self.objs[1]': 7,
      'has(self.a.b)': 2,
      'has(self.a1.b1.c1)': 3,
      '!(has(self.a1.d2) && has(self.a1.d2.e2))': 3,
      '!has(self.a1.d2)': 3,
    },
  },
  'elements with keys': {
    schema: object({ listMap: keyed(object({ k: string, v: string, v2: string })) }),
    value: {
      listMap: [
        { k: 'a1', v: 'b1' },
        { k: 'a2', v: 'b2' },
        { k: 'a3', v: 'b3', v2: 'z' },
      ],
    },
    costs: {
      'has(self.listMap[0].v)': 3,
      "self.listMap.all(m, m.k.startsWith('a'))": 21,
      "self.listMap.all(m, !has(m.v2) || m.v2 == 'z')": 21,
      "self.listMap.exists(m, m.k.endsWith('1'))": 13,
      "self.listMap.exists_one(m, m.k == 'a3')": 15,
      "!self.listMap.all(m, m.k.endsWith('1'))": 18,
      "!self.listMap.exists(m, m.v == 'x')": 25,
      "size(self.listMap.filter(m, m.k == 'a1')) == 1": 27,
      "self.listMap.exists(m, m.k == 'a1' && m.v == 'b1')": 16,
      "self.listMap.map(m, m.v).exists(v, v == 'b1')": 55,
      "self.listMap.exists(m, has(m.v2) && m.v2 == 'z')": 21,
      "!self.listMap.all(m, has(m.v2) && m.v2 != 'z')": 10,
      "self.listMap.exists_one(m, has(m.v2) && m.v2 == 'z')": 12,
      "self.listMap.map(m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1": 25,
      "self.listMap.exists(m, m.v2 == 'z')": 24,
      "!self.listMap.all(m, m.v2 != 'z')": 22,
    },
  },
}

describe('the cost of a rule at run time', () => {
  for (const [what, { schema: source, value, costs }] of Object.entries(cases))
    it(`equals upstream's for ${what}`, () => {
      const schema = structuralSchema({
        ...source,
        'x-kubernetes-validations': Object.keys(costs).map((rule) => ({ rule })),
      })
      const type = declaredType(schema, false, selfTypeName)
      assert.ok(type)
      const counted = compiledRules(schema, type).map(({ program, fault, rule }) => {
        assert.ok(program, fault)
        const outcome = program.evaluate({ self: adapt(value, type) })
        assert.ok('value' in outcome && outcome.value === true, rule.rule)
        return [rule.rule, outcome.cost]
      })
      assert.deepEqual(Object.fromEntries(counted), costs)
    })
})
