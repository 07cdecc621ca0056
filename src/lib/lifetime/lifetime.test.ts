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

test('the parts of a group end at the same time, before the parts that came before the group', async () => {
  const lifetime = new Lifetime()
  const ended: string[] = []
  lifetime.onEnd(() => void ended.push('server'))
  const group = lifetime.group()
  const { promise, resolve } = Promise.withResolvers<void>()
  group.onEnd(async (graceMs) => {
    resolve()
    await Promise.resolve()
    ended.push(`scheduler in ${graceMs}`)
  })
  group.onEnd(async () => {
    await promise
    ended.push('controllers')
  })
  await lifetime.end(7)
  assert.deepEqual(ended.toSorted(), ['controllers', 'scheduler in 7', 'server'])
  assert.equal(ended.at(-1), 'server')
})
