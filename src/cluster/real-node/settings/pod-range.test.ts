import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePodRange } from './pod-range.ts'

test('clusters have different ranges of pods, each always the same', () => {
  const ranges = ['/a', '/b', '/c'].map((name) => freePodRange('10.128.0.0/9', name, []))
  assert.equal(new Set(ranges).size, 3)
  assert.equal(freePodRange('10.128.0.0/9', '/a', []), ranges[0])
  for (const range of ranges) assert.match(range, /^10\.(1[2-9]\d|2\d\d)\.\d+\.0\/24$/)
})

test('a range of pods overlaps no network of the machine', () => {
  const [low = '', high = ''] = ['10.0.0.0/24', '10.0.1.0/24']
  const inBoth = (...others: string[]): string => freePodRange('10.0.0.0/23', 'name', others)
  assert.equal(inBoth(low), high)
  assert.equal(inBoth('10.0.1.77/32'), low)
  assert.equal(inBoth('10.0.1.0/25', 'fd00::/64', '192.168.1.2/24'), low)
  // Nothing is better than another range if all are in use.
  assert.ok([low, high].includes(inBoth('10.0.0.0/8')))
})

test('the IPv6 range of a node is a /64', () => {
  const ranges = ['/a', '/b'].map((name) => freePodRange('fd00:1::/48', name, ['10.0.0.0/8']))
  assert.equal(new Set(ranges).size, 2)
  for (const range of ranges) assert.match(range, /^fd00:1:0:[0-9a-f]+::\/64$/)
  assert.equal(freePodRange('fd00:1::/63', 'name', ['fd00:1:0:1::7/128']), 'fd00:1::/64')
})
