import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, struct } from '../../fields/sample-types.fixture.ts'
import { checkValues, decode } from '../index.ts'
import { maxValues } from './value-limit.ts'

const tooMany = { code: 413, message: `Request entity too large: an object may have at most ${maxValues} values` }

test('members and items are counted at all levels, but not inside strings', () => {
  checkValues(
    JSON.stringify({ data: Object.fromEntries(Array.from({ length: maxValues - 10 }, (_, i) => [`k${i}`, ',[{'])) }),
  )
  checkValues(JSON.stringify({ a: '{,"'.repeat(1_000_000) }))
  checkValues(JSON.stringify(Array(maxValues - 1).fill({})))
  for (const value of [
    Array(maxValues + 1).fill(0),
    Array(maxValues / 2 + 1).fill([0]),
    { a: Array(maxValues + 1).fill({}) },
  ])
    assert.throws(() => checkValues(JSON.stringify(value)), tooMany)
})

test('the result of a patch has the same limit as a body', () => {
  const texts = { kind: 'array', items: { kind: 'string' } } as const
  const type = struct('Heavy', {
    lists: field({ kind: 'array', items: texts }),
    map: field({ kind: 'map', values: { kind: 'string' } }),
    free: field({ kind: 'any' }),
  })
  const half = Array(maxValues / 2 + 1).fill('')
  for (const value of [
    { lists: [half, half] },
    { map: Object.fromEntries(half.map((_, i) => [`k${i}`, ''])), lists: [half] },
    { free: half.map(() => ['', ['']]) },
  ])
    assert.throws(() => decode(type, value), tooMany)
})
