import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNamed, serviceWith } from './pods.fixture.ts'
import { TriggerTimes, withTriggerTime } from './trigger-times.ts'

test('next returns the creation time of a new Service, then the first change since the last call', () => {
  const times = new TriggerTimes()
  const pods = [
    podNamed('a', { readySince: '2026-01-01T00:00:05Z' }),
    podNamed('b', { readySince: '2026-01-01T00:00:03Z' }),
  ]
  assert.equal(times.next('k', serviceWith(), []), '2026-01-01T00:00:00Z')
  assert.equal(times.next('k', serviceWith(), pods), '2026-01-01T00:00:03Z')
  assert.equal(times.next('k', serviceWith(), pods), undefined)
  times.forget('k')
  assert.equal(times.next('k', serviceWith(), pods), '2026-01-01T00:00:00Z')
})

test('withTriggerTime removes the annotation if the time is undefined', () => {
  const annotated = withTriggerTime({ other: 'x' }, '2026-01-01T00:00:00Z')
  assert.deepEqual(annotated, {
    other: 'x',
    'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
  })
  assert.deepEqual(withTriggerTime(annotated, undefined), { other: 'x' })
})
