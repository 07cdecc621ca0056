import assert from 'node:assert/strict'
import { test } from 'node:test'
import { intervalsOfBlocks } from './address-intervals.ts'

const intervals = (family: 4 | 6, range: string, ...except: readonly string[]): string[] =>
  intervalsOfBlocks(family, [{ range, except }]).map(
    ({ first, end }) => `${first.toString('hex')}-${end?.toString('hex') ?? ''}`,
  )

test('exceptions split a range', () => {
  assert.deepEqual(intervals(4, '10.0.0.0/24'), ['0a000000-0a000100'])
  assert.deepEqual(intervals(4, '10.0.0.0/24', '10.0.0.8/30'), ['0a000000-0a000008', '0a00000c-0a000100'])
  assert.deepEqual(intervals(4, '10.0.0.0/24', '10.0.0.0/25', '10.0.0.128/25'), [])
  assert.deepEqual(intervals(4, '10.0.0.0/24', '11.0.0.0/8'), ['0a000000-0a000100'])
})

test('a range up to the last address has no end', () => {
  assert.deepEqual(intervals(4, '0.0.0.0/0', '0.0.0.0/1'), ['80000000-'])
})

test('ranges of the other family are left out', () => {
  assert.deepEqual(intervals(6, '10.0.0.0/24'), [])
  assert.deepEqual(intervals(6, 'fd00::/16', 'fd00::/17'), [`fd008${'0'.repeat(27)}-fd01${'0'.repeat(28)}`])
})

test('overlapping blocks are one interval', () => {
  const blocks = ['10.0.1.0/24', '10.0.0.0/24', '10.0.0.128/25'].map((range) => ({ range, except: [] }))
  assert.equal(intervalsOfBlocks(4, blocks).length, 1)
})
