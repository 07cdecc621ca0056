import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce, inSteps, pauses, type Steps } from './pauses.ts'

const work = (ms: number): void => {
  for (const start = performance.now(); performance.now() - start < ms; );
}

test('long work lets others have their turn, short work goes on', async () => {
  const pause = pauses()
  assert.equal(pause(), undefined)
  let others = 0
  setImmediate(() => others++)
  work(20)
  await pause()
  assert.equal(others, 1)
  assert.equal(pause(), undefined)
})

/** Adds up the numbers; each is a step of so many ms. */
function* sum(numbers: readonly number[], ms: number): Steps<number> {
  let total = 0
  for (const number of numbers) {
    work(ms)
    total += number
    yield
  }
  return total
}

test('others have their turn between the steps of long work, but where it is done at once', async () => {
  let others = 0
  setImmediate(() => others++)
  assert.equal(atOnce(sum([1, 2, 3], 10)), 6)
  assert.equal(await inSteps(sum([1, 2, 3], 0), () => undefined), 6)
  assert.equal(others, 0)
  assert.equal(await inSteps(sum([1, 2, 3], 10), pauses()), 6)
  assert.equal(others, 1)
})

test('what a step throws is thrown', async () => {
  const broken = function* (): Steps<never> {
    yield
    throw new RangeError('no')
  }
  await assert.rejects(async () => inSteps(broken(), pauses()), RangeError)
  assert.throws(() => atOnce(broken()), RangeError)
})
