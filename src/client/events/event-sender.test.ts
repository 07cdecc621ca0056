import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notFound, StatusError } from '../../machinery/status-error.ts'
import { EventSender } from './event-sender.ts'

test('events are written one after the other; what is too much is lost, and said once', async () => {
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
  assert.deepEqual(logged, ['events are lost, 1000 wait to be written: event 1001'])
  resolve()
  await done.promise
  assert.equal(written, 1001)
})

test('an event that is refused is lost, and the next one is written', async () => {
  const logged: string[] = []
  const sender = new EventSender((line) => logged.push(line))
  sender.send(() => Promise.reject(new Error('no')), 'the first')
  await new Promise<void>((resolve) => sender.send(async () => resolve(), 'the second'))
  assert.deepEqual(logged, ['the first is lost: no'])
})

test('events of a namespace that goes away are lost without a word', async () => {
  const logged: string[] = []
  const sender = new EventSender((line) => logged.push(line))
  const going = new StatusError(403, 'Forbidden', 'no', { name: 'e', causes: [{ reason: 'NamespaceTerminating' }] })
  const gone = notFound({ group: '', name: 'namespaces' }, 'n')
  for (const refusal of [going, gone]) sender.send(() => Promise.reject(refusal), 'the event')
  await new Promise<void>((resolve) => sender.send(async () => resolve(), 'the last'))
  assert.deepEqual(logged, [])
})
