import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turns } from './turns.ts'

const work = (ms: number): void => {
  for (const start = performance.now(); performance.now() - start < ms; );
}

test('long work lets others have their turn, short work goes on', async () => {
  const turn = turns()
  assert.equal(turn(), undefined)
  let others = 0
  setImmediate(() => others++)
  work(20)
  await turn()
  assert.equal(others, 1)
  assert.equal(turn(), undefined)
})
