import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batcher } from './batcher.ts'

const turn = (): Promise<void> => new Promise(setImmediate)

/** A batcher whose batches stay pending until released. */
function held(options: Partial<ConstructorParameters<typeof Batcher>[0]>) {
  const sent: (readonly string[])[] = []
  const lost: string[] = []
  const letGo: (() => void)[] = []
  const batcher = new Batcher({
    bufferSize: 100,
    maxSize: 3,
    maxWaitMs: 60_000,
    lost: (plugin, events, why) => lost.push(`${plugin} ${events}: ${why}`),
    send(batch) {
      sent.push(batch)
      return new Promise((resolve) => letGo.push(resolve))
    },
    ...options,
  })
  return { batcher, sent, lost, letGo }
}

test('a batch is sent when it is full, the rest after a delay or on stop', async () => {
  const { batcher, sent, letGo } = held({})
  for (const event of ['a', 'b', 'c', 'd']) batcher.add(event)
  await turn()
  assert.deepEqual(sent, [['a', 'b', 'c']])
  const stopped = batcher.stop(10_000)
  assert.deepEqual(sent, [['a', 'b', 'c'], ['d']])
  for (const go of letGo) go()
  await stopped
})

test('the queue is limited, and events beyond the limit are reported as lost', async () => {
  const { batcher, sent, lost, letGo } = held({ bufferSize: 2, maxSize: 5, maxWaitMs: 60_000 })
  for (const event of ['a', 'b', 'c', 'd']) batcher.add(event)
  assert.deepEqual(lost, ['buffered 1: audit buffer queue blocked', 'buffered 1: audit buffer queue blocked'])
  const stopped = batcher.stop(10_000)
  letGo[0]?.()
  await stopped
  assert.deepEqual(sent, [['a', 'b']])
})

test('the number of pending batches is limited', async () => {
  const { batcher, sent, letGo } = held({ bufferSize: 1000, maxSize: 1, maxWaitMs: 0 })
  for (let i = 0; i < 100; i++) batcher.add(`${i}`)
  await turn()
  assert.equal(sent.length, 16)
  letGo[0]?.()
  await turn()
  assert.equal(sent.length, 17)
  await batcher.stop(1)
})

test('batches beyond the throttle wait', async () => {
  const { batcher, sent, letGo } = held({ maxSize: 1, throttle: { perSecond: 0.001, burst: 2 } })
  for (let i = 0; i < 5; i++) batcher.add(`${i}`)
  await turn()
  assert.equal(sent.length, 2)
  const stopped = batcher.stop(10_000)
  assert.equal(sent.length, 5, 'stop ignores the throttle')
  for (const go of letGo) go()
  await stopped
})

test('the size of a batch in bytes is limited', async () => {
  const { batcher, sent, letGo } = held({ maxSize: 10, maxWaitMs: 60_000, maxBytes: 5 })
  for (const event of ['aaa', 'bb', 'c', 'dddddddd', 'e']) batcher.add(event)
  const stopped = batcher.stop(10_000)
  assert.deepEqual(sent, [['aaa', 'bb'], ['c'], ['dddddddd'], ['e']])
  for (const go of letGo) go()
  await stopped
})

test('stop waits for a hanging sink only for the given time', async () => {
  const { batcher, lost } = held({ maxSize: 1, maxWaitMs: 0 })
  batcher.add('a')
  await batcher.stop(20)
  assert.deepEqual(lost, [])
})
