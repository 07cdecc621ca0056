import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShare } from './fair-share.ts'

const turn = (): Promise<void> => new Promise(setImmediate)

test('requests begin in their order: 32 at once, the others in later turns', async () => {
  const share = new FairShare()
  const begun: number[] = []
  for (let i = 0; i < 100; i++) share.take({ start: () => begun.push(i) })
  assert.equal(begun.length, 32)
  await turn()
  assert.equal(begun.length, 64)
  share.take({ start: () => begun.push(100) })
  for (let i = 0; i < 4; i++) await turn()
  assert.deepEqual(begun, [...begun.keys()])
  assert.equal(begun.length, 101)
  share.take({ start: () => begun.push(101) })
  assert.equal(begun.length, 102, 'at once again')
})
