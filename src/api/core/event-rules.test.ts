import assert from 'node:assert/strict'
import test from 'node:test'
import { type EventFacts, eventFactRules } from './event-rules.ts'

const timed: EventFacts = {
  namespace: 'n',
  eventTime: '2024-01-01T00:00:00.000000Z',
  regardingNamespace: 'n',
  reporter: 'example.com/controller',
  reporterField: 'reportingController',
  reportingInstance: 'i',
  action: 'a',
  reason: 'r',
  message: 'm',
}
const errorsOf = (over: Partial<EventFacts>): string[] =>
  eventFactRules({ ...timed, ...over }).map(({ field, message }) => `${field}: ${message.replace(/ \(e\.g\. .*/, '')}`)

test('events with an eventTime need a reporter, an action and a reason', () => {
  assert.deepEqual(errorsOf({}), [])
  assert.deepEqual(errorsOf({ action: '', reason: undefined, reportingInstance: '' }), [
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
  ])
  assert.equal(errorsOf({ reporter: '', reporterField: 'reportingComponent' })[0], 'reportingComponent: Required value')
  assert.deepEqual(errorsOf({ message: 'm'.repeat(1025) }), [
    'message: Invalid value: "": can have at most 1024 characters',
  ])
})

test('events must be in the namespace of the object that they regard', () => {
  const elsewhere = ['involvedObject.namespace: Invalid value: "": does not match event.namespace']
  assert.deepEqual(errorsOf({ regardingNamespace: '' }), elsewhere)
  assert.deepEqual(errorsOf({ regardingNamespace: '', namespace: 'kube-system' }), [])
  assert.deepEqual(errorsOf({ eventTime: null, regardingNamespace: '' }), elsewhere)
  assert.deepEqual(errorsOf({ eventTime: null, regardingNamespace: '', namespace: 'default', action: '' }), [])
})
