/** Those who have waited begin one after the other, a few in a turn of the event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PacedStarts } from './paced-starts.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a few begin in each turn of the event loop, in their order', async () => {
  const starts = new PacedStarts()
  const begun: number[] = []
  const numbers = Array.from({ length: 40 }, (_, number) => number)
  for (const number of numbers) starts.take(() => begun.push(number))
  const afterTurns = [begun.length]
  for (let i = 0; i < 2; i++) {
    await turn()
    afterTurns.push(begun.length)
  }
  assert.deepEqual(afterTurns, [16, 32, 40])
  assert.deepEqual(begun, numbers)
})

test('who comes while others wait stands behind them, and once nobody waits begins at once', async () => {
  const starts = new PacedStarts()
  const begun: string[] = []
  for (const name of 'abcdefghijklmnopq') starts.take(() => begun.push(name))
  starts.take(() => {
    begun.push('r')
    starts.take(() => begun.push('s'))
  })
  assert.equal(begun.join(''), 'abcdefghijklmnop')
  while (begun.length < 19) await turn()
  assert.equal(begun.join(''), 'abcdefghijklmnopqrs')
  await turn()
  await turn()
  starts.take(() => begun.push('h'))
  assert.equal(begun.at(-1), 'h')
})
