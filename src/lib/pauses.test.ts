import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauses } from './pauses.ts'

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
