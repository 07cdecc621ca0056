import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGroup, planNodes } from './node-shape.ts'

test('new nodes get the lowest free numbers', () => {
  const names = (size: number, own: readonly string[], ...taken: string[]): string =>
    planNodes([defaultGroup], size, { own, taken: new Set(taken) })
      .map(({ name }) => name.replace('node-', ''))
      .join()
  assert.equal(names(3, []), '1,2,3')
  assert.equal(names(3, [], 'node-1', 'node-3', 'other-2'), '2,4,5')
  // Own nodes are retained, those with the lowest numbers first.
  assert.equal(names(2, ['node-6', 'node-7', 'node-10']), '6,7')
  assert.equal(names(3, ['node-6', 'other-7'], 'node-1'), '2,3,6')
  assert.equal(names(0, ['node-6']), '')
})
