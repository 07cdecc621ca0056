import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attemptEach } from './attempt-each.ts'
import { mostAtOnce } from './slow-start.ts'

test('all are tried, some at once; what failed first is told beside what was done', async () => {
  const items = Array.from({ length: 2 * mostAtOnce + 1 }, (_, at) => at)
  let underWay = 0
  let most = 0
  const { done, error } = await attemptEach(items, async (item) => {
    most = Math.max(most, ++underWay)
    await new Promise(setImmediate)
    underWay--
    if (item % 50 === 7) throw new Error(`not ${item}`)
    return item
  })
  assert.equal(most, mostAtOnce)
  assert.deepEqual(
    done,
    items.filter((item) => item % 50 !== 7),
  )
  assert.equal(String(error), 'Error: not 7')
})

test('nothing to do is no failure', async () => {
  assert.deepEqual(await attemptEach([], async () => {}), { done: [] })
})
