import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { KeyedQueue } from './keyed-queue.ts'

test('operations of a key run one after another, also after a failure', async () => {
  const queue = new KeyedQueue()
  const log: string[] = []
  const run = (key: string, name: string, fails = false) =>
    queue.run(key, async () => {
      log.push(`${name} begins`)
      await turn()
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const results = await Promise.allSettled([run('x', 'a', true), run('x', 'b'), run('y', 'c')])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(
    log.filter((line) => !line.startsWith('c')),
    ['a begins', 'a ends', 'b begins', 'b ends'],
  )
  assert.ok(log.indexOf('c begins') < log.indexOf('a ends'))
  assert.equal(await run('x', 'd'), 'd')
})
