import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { NodeRanges, parseRanges } from './node-ranges.ts'

test('the ranges of a node survive a restart, and former ones are known while pods have them', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-ranges-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'network/ranges.json')
  new NodeRanges(file).set(['10.1.0.0/24'])
  new NodeRanges(file).set(['10.2.0.0/24'])
  new NodeRanges(file).set(['10.2.0.0/24'])
  const ranges = new NodeRanges(file)
  assert.deepEqual([ranges.current, ranges.former], [['10.2.0.0/24'], ['10.1.0.0/24']])
  ranges.set(['10.1.0.0/24'])
  assert.deepEqual(ranges.former, ['10.2.0.0/24'])
  ranges.forgetFormer()
  assert.deepEqual(new NodeRanges(file).former, [])
})

test('a node has one range of each family', () => {
  assert.deepEqual(parseRanges('10.1.0.0/24, fd00::/64'), ['10.1.0.0/24', 'fd00::/64'])
  assert.throws(() => parseRanges('10.1.0.0/24,10.2.0.0/24'), /must be one of IPv4, one of IPv6, or both/)
  assert.throws(() => parseRanges('pods'), /not a range such as/)
})
