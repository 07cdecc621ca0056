/** Rejections are delayed only if there are very many. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DelayedRejections } from './delayed-rejections.ts'

test('the first rejections are sent immediately, more of them a moment later', async () => {
  const rejections = new DelayedRejections()
  const delays = Array.from({ length: 200 }, () => rejections.delay())
  assert.equal(delays[0], undefined)
  assert.ok(delays.filter((one) => one === undefined).length < 200, 'some have to wait')
  await Promise.all(delays)
})

test('rejections that are delayed together are not sent together', async () => {
  const rejections = new DelayedRejections()
  const delays = Array.from({ length: 200 }, () => rejections.delay())
  let inTurn = 0
  let most = 0
  let waiting = 0
  for (const one of delays) {
    if (!one) continue
    waiting++
    void one.then(() => {
      inTurn++
      waiting--
    })
  }
  while (waiting > 0) {
    inTurn = 0
    await new Promise((resolve) => setTimeout(resolve, 1))
    most = Math.max(most, inTurn)
  }
  assert.ok(most <= 20, `${most} were sent in one turn`)
})
