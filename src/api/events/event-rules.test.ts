import assert from 'node:assert/strict'
import test from 'node:test'
import type { Event } from './event-model.ts'
import { eventRules, eventUpdateRules, newEventRules } from './event-rules.ts'

const event = (over: object = {}): Event =>
  ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'n' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.com/controller',
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
    regarding: { namespace: 'n', name: 'p' },
    type: 'Normal',
    ...over,
  }) as unknown as Event
const errorMessages = (errors: ReturnType<typeof eventRules>): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const create = (over: object): string[] => errorMessages([...eventRules(event(over)), ...newEventRules(event(over))])
const update = (over: object, before: object = {}): string[] =>
  errorMessages([
    ...eventRules(event({ ...before, ...over })),
    ...eventUpdateRules(event({ ...before, ...over }), event(before)),
  ])

const [once, told2] = [{ count: 1 }, { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' }]
const wrongSeries = ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value']

test('a new event needs an eventTime and a known type, and no deprecated fields', () => {
  assert.deepEqual(create({}), [])
  assert.deepEqual(create({ series: told2 }), [])
  assert.deepEqual(create({ series: once }), wrongSeries)
  assert.deepEqual(create({ eventTime: null, type: 'test-type' }), [
    'eventTime: Required value',
    'type: Invalid value: "": has invalid value: test-type',
  ])
  assert.deepEqual(
    create({
      deprecatedFirstTimestamp: 'T',
      deprecatedLastTimestamp: 'T',
      deprecatedCount: 1,
      deprecatedSource: { host: 'h' },
    }),
    ['firstTimestamp', 'lastTimestamp', 'count', 'source'].map(
      (field) => `${field}: Invalid value: "": needs to be unset`,
    ),
  )
  assert.deepEqual(create({ note: 'ü'.repeat(513) }), ['message: Invalid value: "": can have at most 1024 characters'])
})

test('an event update may change the series only', () => {
  assert.deepEqual(update({ series: told2 }), [])
  assert.deepEqual(update({ series: once }), wrongSeries)
  assert.deepEqual(update({}, { series: once, type: 'test-type', deprecatedCount: 3 }), [])
  assert.deepEqual(update({ reason: 's', action: 'b' }), [
    'reason: Invalid value: "s": field is immutable',
    'reason: Invalid value: "s": field is immutable',
    'action: Invalid value: "b": field is immutable',
  ])
})
