import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growthPercent } from './heap-growth.ts'

test('heaps of a small process may double, those of a large one grow by half', () => {
  const megabytes = (count: number): number => growthPercent(count * 1024 * 1024)
  assert.deepEqual([200, 320, 400, 640, 1000, 4000].map(megabytes), [100, 100, 80, 50, 50, 50])
})
