import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaType } from '../../api/schema/index.ts'
import { checkValues, decode, maxValues } from './index.ts'

const tooMany = { code: 413, message: `Request entity too large: an object may have at most ${maxValues} values` }

test('members and items are counted at all levels, what stands in texts is not', () => {
  checkValues(JSON.stringify({ data: Object.fromEntries(Array.from({ length: maxValues - 10 }, (_, i) => [`k${i}`, ',[{'])) }))
  checkValues(JSON.stringify({ a: '{,"'.repeat(1_000_000) }))
  checkValues(JSON.stringify(Array(maxValues - 1).fill({})))
  for (const value of [Array(maxValues + 1).fill(0), Array(maxValues / 2 + 1).fill([0]), { a: Array(maxValues + 1).fill({}) }])
    assert.throws(() => checkValues(JSON.stringify(value)), tooMany)
})

test('patches do not make more of an object than a body may hold', () => {
  const type = schemaType('V1Pod')
  assert.throws(() => decode(type, { spec: { containers: Array(maxValues + 1).fill({}) } }), tooMany)
  assert.throws(() => decode(type, { spec: { containers: [{ name: 'a', args: Array(maxValues + 1).fill('') }] } }), tooMany)
  assert.throws(() => decode(schemaType('V1ControllerRevision'), { revision: 1, data: Array(maxValues / 2 + 2).fill([0, [0]]) }), tooMany)
})
