import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countInBoth,
  countOf,
  firstMissing,
  hasIndex,
  indexesText,
  noIndexes,
  parseIndexes,
  union,
  withIndexes,
} from './indexes.ts'

test('indexes are parsed and formatted as intervals', () => {
  for (const [text, written] of [
    ['', ''],
    ['0', '0'],
    ['0,1', '0,1'],
    ['0-1', '0,1'],
    ['0,1,2', '0-2'],
    ['0-3,5,8,9', '0-3,5,8,9'],
    ['3-5,9-20', '3-5,9'],
    ['1,x,4-', '1'],
    ['12', ''],
  ])
    assert.equal(indexesText(parseIndexes(text, 10)), written, text)
  assert.deepEqual(parseIndexes(undefined, 3), noIndexes)
})

test('sets of indexes are merged, searched and counted', () => {
  const some = parseIndexes('1,4-6', 10)
  assert.equal(indexesText(withIndexes(some, [0, 7, 2])), '0-2,4-7')
  assert.equal(indexesText(withIndexes(some, [5])), '1,4-6')
  assert.equal(indexesText(union(some, parseIndexes('2-3,9', 10))), '1-6,9')
  assert.equal(countOf(some), 4)
  assert.deepEqual(
    [0, 1, 2, 4, 6, 7].map((index) => hasIndex(some, index)),
    [false, true, false, true, true, false],
  )
  assert.equal(countInBoth(some, parseIndexes('0-4,6', 10)), 3)
  assert.equal(countInBoth(some, noIndexes), 0)
})

test('firstMissing returns the lowest missing indexes', () => {
  assert.deepEqual(firstMissing(parseIndexes('0,2-3', 10), 3, 6), [1, 4, 5])
  assert.deepEqual(firstMissing(noIndexes, 2, 6), [0, 1])
  assert.deepEqual(firstMissing(parseIndexes('0-5', 10), 2, 6), [])
  assert.deepEqual(firstMissing(noIndexes, 0, 6), [])
})
