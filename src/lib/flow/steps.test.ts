import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauses, runSync, runWithPauses, type Steps } from './steps.ts'

const work = (ms: number): void => {
  for (const start = performance.now(); performance.now() - start < ms; );
}

test('a pause yields to the event loop only after long work', async () => {
  const pause = pauses()
  assert.equal(pause(), undefined)
  let others = 0
  setImmediate(() => others++)
  work(20)
  await pause()
  assert.equal(others, 1)
  assert.equal(pause(), undefined)
})

/** Adds the numbers; each step takes so many ms. */
function* sum(numbers: readonly number[], ms: number): Steps<number> {
  let total = 0
  for (const number of numbers) {
    work(ms)
    total += number
    yield
  }
  return total
}

test('runWithPauses yields between long steps, runSync does not', async () => {
  let others = 0
  setImmediate(() => others++)
  assert.equal(runSync(sum([1, 2, 3], 10)), 6)
  assert.equal(await runWithPauses(sum([1, 2, 3], 0), () => undefined), 6)
  assert.equal(others, 0)
  assert.equal(await runWithPauses(sum([1, 2, 3], 10), pauses()), 6)
  assert.equal(others, 1)
})

test('errors of steps are thrown', async () => {
  const broken = function* (): Steps<never> {
    yield
    throw new RangeError('no')
  }
  await assert.rejects(async () => runWithPauses(broken(), pauses()), RangeError)
  assert.throws(() => runSync(broken()), RangeError)
})
