import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slowStart } from './slow-start.ts'

/** Runs `count` attempts, of which `failing` fail, and returns the batch sizes. */
async function batches(count: number, failing: readonly number[] = []) {
  const sizes: number[] = []
  let pending = 0
  const result = await slowStart(count, async (at) => {
    if (pending++ === 0) sizes.push(0)
    sizes.push((sizes.pop() ?? 0) + 1)
    await new Promise((resolve) => setImmediate(resolve))
    pending--
    if (failing.includes(at)) throw new Error(`${at}`)
  })
  return { sizes, ...result }
}

test('batches double up to the maximum concurrency', async () => {
  assert.deepEqual(await batches(10), { sizes: [1, 2, 4, 3], done: 10 })
  assert.deepEqual(await batches(300), { sizes: [1, 2, 4, 8, 16, 32, 64, 100, 73], done: 300 })
  assert.deepEqual(await batches(0), { sizes: [], done: 0 })
})

test('no batch follows after a failure', async () => {
  const { sizes, done, error } = await batches(100, [0])
  assert.deepEqual([sizes, done], [[1], 0])
  assert.match(String(error), /0/)
})

test('the rest of a batch continues after a failure and is counted', async () => {
  const { sizes, done } = await batches(100, [4, 5])
  assert.deepEqual([sizes, done], [[1, 2, 4], 5])
})
