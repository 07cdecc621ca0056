import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notFound, StatusError } from '../../machinery/status-error.ts'
import { EventSender } from './event-sender.ts'

test('events are written one after the other; an overflow is dropped and logged once', async () => {
  const logged: string[] = []
  const sender = new EventSender((line) => logged.push(line))
  const { promise, resolve } = Promise.withResolvers<void>()
  let written = 0
  const done = Promise.withResolvers<void>()
  for (let i = 0; i < 1100; i++) {
    sender.send(async () => {
      await promise
      if (++written === 1001) done.resolve()
    }, `event ${i}`)
  }
  assert.deepEqual(logged, ['dropping events, 1000 are queued: event 1001'])
  resolve()
  await done.promise
  assert.equal(written, 1001)
})

test('a rejected event is dropped, and the next one is written', async () => {
  const logged: string[] = []
  const sender = new EventSender((line) => logged.push(line))
  sender.send(() => Promise.reject(new Error('no')), 'the first')
  await new Promise<void>((resolve) => sender.send(async () => resolve(), 'the second'))
  assert.deepEqual(logged, ['cannot write the first: no'])
})

test('events of a terminating or deleted namespace are dropped without a log line', async () => {
  const logged: string[] = []
  const sender = new EventSender((line) => logged.push(line))
  const terminating = new StatusError(403, 'Forbidden', 'no', {
    name: 'e',
    causes: [{ reason: 'NamespaceTerminating' }],
  })
  const missing = notFound({ group: '', name: 'namespaces' }, 'n')
  for (const refusal of [terminating, missing]) sender.send(() => Promise.reject(refusal), 'the event')
  await new Promise<void>((resolve) => sender.send(async () => resolve(), 'the last'))
  assert.deepEqual(logged, [])
})
