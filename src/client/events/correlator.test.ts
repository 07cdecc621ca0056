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

test('what is told again is counted in the event that told it first', () => {
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

test('what differs only in its words is one event from the tenth on, and begins anew after ten minutes of silence', () => {
  let now = 0
  const correlator = new EventCorrelator(() => now)
  const told = Array.from({ length: 12 }, (_, i) => correlator.correlate(event(`m${i}`)))
  assert.deepEqual(
    told.map((one) => one?.event.message),
    [
      ...Array.from({ length: 9 }, (_, i) => `m${i}`),
      ...[9, 10, 11].map((i) => `(combined from similar events): m${i}`),
    ],
  )
  assert.deepEqual(
    told.slice(9).map((one) => [one?.isNew, one?.event.count]),
    [
      [true, 1],
      [false, 2],
      [false, 3],
    ],
  )
  now = 600_001
  assert.equal(correlator.correlate(event('again'))?.event.message, 'again')
})

test('one object has 25 events at once and one in five minutes from then on; others have their own', () => {
  let now = 0
  const correlator = new EventCorrelator(() => now)
  const told = Array.from({ length: 30 }, () => correlator.correlate(event('a')))
  assert.equal(told.filter(Boolean).length, 25)
  assert.ok(correlator.correlate(event('a', { name: 'other' })))
  now = 300_000
  assert.equal(correlator.correlate(event('a'))?.event.count, 31)
  assert.equal(correlator.correlate(event('a')), undefined)
})
