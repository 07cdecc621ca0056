/** Requests that have waited start one after the other, a few in each turn of the event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PacedStarts } from './paced-starts.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a few start in each turn of the event loop, in order', async () => {
  const starts = new PacedStarts()
  const begun: number[] = []
  const numbers = Array.from({ length: 40 }, (_, number) => number)
  for (const number of numbers) starts.schedule(() => begun.push(number))
  const afterTurns = [begun.length]
  for (let i = 0; i < 2; i++) {
    await turn()
    afterTurns.push(begun.length)
  }
  assert.deepEqual(afterTurns, [16, 32, 40])
  assert.deepEqual(begun, numbers)
})

test('a request that arrives while others wait starts after them; later ones start immediately', async () => {
  const starts = new PacedStarts()
  const begun: string[] = []
  for (const name of 'abcdefghijklmnopq') starts.schedule(() => begun.push(name))
  starts.schedule(() => {
    begun.push('r')
    starts.schedule(() => begun.push('s'))
  })
  assert.equal(begun.join(''), 'abcdefghijklmnop')
  while (begun.length < 19) await turn()
  assert.equal(begun.join(''), 'abcdefghijklmnopqrs')
  await turn()
  await turn()
  starts.schedule(() => begun.push('h'))
  assert.equal(begun.at(-1), 'h')
})
