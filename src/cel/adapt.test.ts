import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapt, environment } from './index.ts'
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  type ObjectType,
  stringType,
  timestampType,
} from './types.ts'

const self: ObjectType = {
  kind: 'object',
  name: 'Self',
  fields: new Map([
    ['whole', { type: intType }],
    ['part', { type: doubleType }],
    ['at', { type: timestampType }],
    ['day', { type: timestampType }],
    ['span', { type: durationType }],
    ['data', { type: bytesType }],
    ['a__dash__b', { type: stringType, property: 'a-b' }],
    ['nothing', { type: intType }],
    ['list', { type: listType(doubleType) }],
  ]),
}

function evaluate(source: string, json: unknown): unknown {
  const compiled = environment({ variables: { self } }).compile(source)
  assert.ok('program' in compiled, 'errors' in compiled ? compiled.errors : '')
  const outcome = compiled.program.evaluate({ self: adapt(json, self) })
  return 'value' in outcome ? outcome.value : outcome.error
}

test('JSON is adapted by its declared type', () => {
  const json = {
    whole: 3,
    part: 3,
    at: '2024-01-01T00:00:00Z',
    day: '2024-01-01',
    span: '90s',
    data: 'QUI=',
    'a-b': 'x',
    nothing: null,
    list: [1, 2.5],
  }
  assert.equal(
    evaluate('type(self.whole) == int && type(self.part) == double && type(self.list[0]) == double', json),
    true,
  )
  assert.equal(evaluate('self.at == self.day && self.span == duration("1m30s") && self.data == b"AB"', json), true)
  assert.equal(evaluate('self.a__dash__b == "x"', json), true)
})

test('a null field counts as absent', () => {
  assert.equal(evaluate('has(self.nothing)', { nothing: null }), false)
  assert.equal(evaluate('self.nothing == 1', { nothing: null }), 'no such key: nothing')
})

test('objects are equal if all their members are equal, declared or preserved', () => {
  const compiled = environment({ variables: { self, oldSelf: self } }).compile('self == oldSelf')
  assert.ok('program' in compiled)
  const same = (a: unknown, b: unknown) => compiled.program.evaluate({ self: adapt(a, self), oldSelf: adapt(b, self) })
  assert.deepEqual(same({ whole: 1, more: 2 }, { more: 2, whole: 1 }), { value: true, cost: 3 })
  assert.deepEqual(same({ whole: 1, more: 2 }, { whole: 1, more: 3 }), { value: false, cost: 3 })
})
