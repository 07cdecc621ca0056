import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lifetime } from './lifetime.ts'

test('parts end once, the last one first, each when the one before has ended', async () => {
  const lifetime = new Lifetime()
  const ended: string[] = []
  lifetime.onEnd(() => void ended.push('store'))
  lifetime.onEnd(async () => {
    await Promise.resolve()
    ended.push('listener')
  })
  await lifetime.end()
  await lifetime.end()
  assert.deepEqual(ended, ['listener', 'store'])
})
