/** Who is refused waits only where very many are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeldRefusals } from './held-refusals.ts'

test('the first refusals are told at once, more of them a moment later, and all are told', async () => {
  const refusals = new HeldRefusals()
  const held = Array.from({ length: 200 }, () => refusals.hold())
  assert.equal(held[0], undefined)
  assert.ok(held.filter((one) => one === undefined).length < 200, 'some have to wait')
  await Promise.all(held)
})

test('those who wait together are not told together', async () => {
  const refusals = new HeldRefusals()
  const held = Array.from({ length: 200 }, () => refusals.hold())
  let inTurn = 0
  let most = 0
  let waiting = 0
  for (const one of held) {
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
  assert.ok(most <= 20, `${most} were told in one turn`)
})
