import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShare } from './fair-share.ts'
import { TurnClock } from './turn-clock.ts'

const turn = (): Promise<void> => new Promise(setImmediate)

test('requests start in order: 32 immediately, the others in later turns', async () => {
  const share = new FairShare({ ageMs: 0 })
  const begun: number[] = []
  for (let i = 0; i < 100; i++) share.schedule({ start: () => begun.push(i) })
  assert.equal(begun.length, 32)
  await turn()
  assert.equal(begun.length, 64)
  share.schedule({ start: () => begun.push(100) })
  for (let i = 0; i < 4; i++) await turn()
  assert.deepEqual(begun, [...begun.keys()])
  assert.equal(begun.length, 101)
  share.schedule({ start: () => begun.push(101) })
  assert.equal(begun.length, 102, 'immediately again')
})

test('a long turn starts four requests of each connection', async () => {
  const clock = { ageMs: 11 }
  const [many, one] = [new FairShare(clock), new FairShare(clock)]
  const begun: string[] = []
  for (let i = 0; i < 12; i++) many.schedule({ start: () => begun.push('many') })
  one.schedule({ start: () => begun.push('one') })
  assert.deepEqual(begun, ['many', 'many', 'many', 'many', 'one'])
  await turn()
  assert.equal(begun.length, 9)
  clock.ageMs = 0
  await turn()
  assert.equal(begun.length, 13)
})

test('the age of a turn counts from the first call in it', async () => {
  const clock = new TurnClock()
  assert.equal(clock.ageMs, 0)
  const until = performance.now() + 5
  while (performance.now() < until);
  assert.ok(clock.ageMs >= 4)
  await turn()
  assert.equal(clock.ageMs, 0)
})
