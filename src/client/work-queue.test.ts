import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkQueue } from './work-queue.ts'

/** A queue whose work waits to be let go, a key at a time. */
function heldQueue(concurrency = 1) {
  const worked: string[] = []
  const held = new Map<string, { resolve: () => void; reject: (error: Error) => void }>()
  const failures: string[] = []
  const queue = new WorkQueue({
    concurrency,
    work: (key) => {
      worked.push(key)
      return new Promise((resolve, reject) => held.set(key, { resolve, reject }))
    },
    failed: (key) => failures.push(key),
  })
  const turn = () => new Promise(setImmediate)
  return { queue, worked, held, failures, turn }
}

test('a key that is added twice is worked on once', async () => {
  const { queue, worked, held, turn } = heldQueue()
  queue.add('a')
  queue.add('a')
  queue.add('b')
  queue.start()
  held.get('a')!.resolve()
  await turn()
  held.get('b')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a', 'b'])
})

test('a key that comes again while it is worked on is worked on once more, never by two at once', async () => {
  const { queue, worked, held, turn } = heldQueue(4)
  queue.start()
  queue.add('a')
  queue.add('a')
  queue.add('a')
  assert.deepEqual(worked, ['a'])
  held.get('a')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a', 'a'])
  held.get('a')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a', 'a'])
})

test('nothing is worked on before the start', () => {
  const { queue, worked } = heldQueue()
  queue.add('a')
  assert.deepEqual(worked, [])
  queue.start()
  assert.deepEqual(worked, ['a'])
})

test('what fails is tried again', async () => {
  const { queue, worked, held, failures, turn } = heldQueue()
  queue.start()
  queue.add('a')
  held.get('a')!.reject(new Error('not now'))
  await turn()
  assert.deepEqual(failures, ['a'])
  while (worked.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
  held.get('a')!.resolve()
  await queue.stop()
})

test('stopping waits for what is under way and takes nothing more', async () => {
  const { queue, worked, held } = heldQueue()
  queue.start()
  queue.add('a')
  queue.add('b')
  let stopped = false
  const stop = queue.stop().then(() => {
    stopped = true
  })
  queue.add('c')
  assert.equal(stopped, false)
  held.get('a')!.resolve()
  await stop
  assert.deepEqual(worked, ['a'])
})
