import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attemptEach } from './attempt-each.ts'
import { maxConcurrent } from './slow-start.ts'

test('attemptEach tries all items in batches and returns the results and the first error', async () => {
  const items = Array.from({ length: 2 * maxConcurrent + 1 }, (_, at) => at)
  let underWay = 0
  let most = 0
  const { done, error } = await attemptEach(items, async (item) => {
    most = Math.max(most, ++underWay)
    await new Promise(setImmediate)
    underWay--
    if (item % 50 === 7) throw new Error(`not ${item}`)
    return item
  })
  assert.equal(most, maxConcurrent)
  assert.deepEqual(
    done,
    items.filter((item) => item % 50 !== 7),
  )
  assert.equal(String(error), 'Error: not 7')
})

test('attemptEach with no items returns no error', async () => {
  assert.deepEqual(await attemptEach([], async () => {}), { done: [] })
})
