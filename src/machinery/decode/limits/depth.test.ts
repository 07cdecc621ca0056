import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeeperThan } from './depth.ts'

test('depth counts lists and objects', () => {
  assert.equal(isDeeperThan('a', 0), false)
  assert.equal(isDeeperThan({}, 0), true)
  assert.equal(isDeeperThan({ a: [1, { b: [] }] }, 4), false)
  assert.equal(isDeeperThan({ a: [1, { b: [] }] }, 3), true)
})

test('values that would exhaust the stack are visited only up to the limit', () => {
  assert.equal(isDeeperThan(JSON.parse(`${'['.repeat(1e6)}${']'.repeat(1e6)}`), 1000), true)
})
