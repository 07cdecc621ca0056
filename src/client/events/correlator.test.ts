import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../kinds.ts'
import { EventCorrelator } from './correlator.ts'

let names = 0
const event = (message: string, { name = 'web', reason = 'Killing' } = {}): Event => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace: 'default', name: `${name}.${names++}` },
  involvedObject: { kind: 'Pod', namespace: 'default', name },
  source: { component: 'test' },
  type: 'Normal',
  reason,
  message,
  firstTimestamp: '2026-01-01T00:00:00Z',
  count: 1,
})

test('an equal event increases the count of the first one', () => {
  const correlator = new EventCorrelator(() => 0)
  const first = correlator.correlate(event('a'))
  const second = correlator.correlate(event('a'))
  assert.deepEqual([first?.isNew, first?.event.count], [true, 1])
  assert.deepEqual(
    [second?.isNew, second?.event.count, second?.event.metadata.name],
    [false, 2, first?.event.metadata.name],
  )
  assert.equal(correlator.correlate(event('b'))?.isNew, true)
})

test('events that differ only in their message are combined from the tenth on, until ten quiet minutes', () => {
  let now = 0
  const correlator = new EventCorrelator(() => now)
  const results = Array.from({ length: 12 }, (_, i) => correlator.correlate(event(`m${i}`)))
  assert.deepEqual(
    results.map((one) => one?.event.message),
    [
      ...Array.from({ length: 9 }, (_, i) => `m${i}`),
      ...[9, 10, 11].map((i) => `(combined from similar events): m${i}`),
    ],
  )
  assert.deepEqual(
    results.slice(9).map((one) => [one?.isNew, one?.event.count]),
    [
      [true, 1],
      [false, 2],
      [false, 3],
    ],
  )
  now = 600_001
  assert.equal(correlator.correlate(event('again'))?.event.message, 'again')
})

test('each object has a burst of 25 events, then one per five minutes', () => {
  let now = 0
  const correlator = new EventCorrelator(() => now)
  const results = Array.from({ length: 30 }, () => correlator.correlate(event('a')))
  assert.equal(results.filter(Boolean).length, 25)
  assert.ok(correlator.correlate(event('a', { name: 'other' })))
  now = 300_000
  assert.equal(correlator.correlate(event('a'))?.event.count, 31)
  assert.equal(correlator.correlate(event('a')), undefined)
})
