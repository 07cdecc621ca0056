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
