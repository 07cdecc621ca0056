import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growingPercent } from './heap-growth.ts'

const megabytes = (count: number): number => count * 1024 * 1024

test('heaps of a small process grow by as much again, those of a large one by a part', () => {
  assert.equal(growingPercent(0), 100)
  assert.equal(growingPercent(megabytes(500)), 100)
  assert.equal(growingPercent(megabytes(1024)), 50)
  assert.equal(growingPercent(megabytes(1700)), 30)
  assert.equal(growingPercent(megabytes(8000)), 20)
})
