import assert from 'node:assert/strict'
import test from 'node:test'
import { type EventFacts, eventFactRules } from './event-rules.ts'

const timed: EventFacts = {
  namespace: 'n',
  eventTime: '2024-01-01T00:00:00.000000Z',
  about: 'n',
  reporter: 'example.com/controller',
  reporterField: 'reportingController',
  reportingInstance: 'i',
  action: 'a',
  reason: 'r',
  message: 'm',
}
const told = (over: Partial<EventFacts>): string[] =>
  eventFactRules({ ...timed, ...over }).map(({ field, message }) => `${field}: ${message.replace(/ \(e\.g\. .*/, '')}`)

test('events with an exact time say who tells what', () => {
  assert.deepEqual(told({}), [])
  assert.deepEqual(told({ action: '', reason: undefined, reportingInstance: '' }), [
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
  ])
  assert.equal(told({ reporter: '', reporterField: 'reportingComponent' })[0], 'reportingComponent: Required value')
  assert.deepEqual(told({ message: 'm'.repeat(1025) }), [
    'message: Invalid value: "": can have at most 1024 characters',
  ])
})

test('events lie in the namespace of what they are about', () => {
  const elsewhere = ['involvedObject.namespace: Invalid value: "": does not match event.namespace']
  assert.deepEqual(told({ about: '' }), elsewhere)
  assert.deepEqual(told({ about: '', namespace: 'kube-system' }), [])
  assert.deepEqual(told({ eventTime: null, about: '' }), elsewhere)
  assert.deepEqual(told({ eventTime: null, about: '', namespace: 'default', action: '' }), [])
})
