import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnGate } from './turn-gate.ts'

const turn = (): Promise<void> => new Promise(setImmediate)
const work = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('in a young turn what comes begins at once', () => {
  const gate = new TurnGate({ ageMs: 9 })
  let begun = 0
  for (let i = 0; i < 100; i++) gate.pass(() => begun++)
  assert.equal(begun, 100)
})

test('in an old turn it waits, and begins in its order, a few at a time', async () => {
  const clock = { ageMs: 11 }
  const gate = new TurnGate(clock)
  const begun: number[] = []
  const pass = (i: number): void =>
    gate.pass(() => {
      begun.push(i)
      work(4)
    })
  for (let i = 0; i < 8; i++) pass(i)
  assert.deepEqual(begun, [])
  await turn()
  assert.ok(begun.length >= 1 && begun.length <= 3, `${begun.length} began`)
  // Nobody overtakes, however young the turn.
  clock.ageMs = 0
  pass(8)
  for (let turns = 1; begun.length < 9; turns++) {
    assert.ok(turns < 10, 'each turn lets some begin')
    await turn()
  }
  assert.deepEqual(begun, [...begun.keys()])
  pass(9)
  assert.equal(begun.length, 10, 'at once again')
})

test('the work of one may be longer than a turn: the others still begin', async () => {
  const gate = new TurnGate({ ageMs: 11 })
  let begun = 0
  for (let i = 0; i < 3; i++)
    gate.pass(() => {
      begun++
      work(12)
    })
  for (let i = 1; i <= 3; i++) {
    await turn()
    assert.equal(begun, i)
  }
})
