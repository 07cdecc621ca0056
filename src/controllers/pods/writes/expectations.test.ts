import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import { Expectations, expectationsExpireMs } from './expectations.ts'

const pod = (uid: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: uid,
    uid,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'owner', controller: true }],
    ...more,
  },
})

test('expected creations are outstanding until all are observed', () => {
  const expectations = new Expectations()
  assert.equal(expectations.satisfied('owner'), true)
  expectations.expectCreations('owner', 2)
  expectations.observe(pod('a'), undefined)
  expectations.observe(pod('a', { labels: { x: 'y' } }), pod('a'))
  assert.equal(expectations.satisfied('owner'), false)
  assert.equal(expectations.satisfied('other'), true)
  expectations.observe(pod('b'), undefined)
  assert.equal(expectations.satisfied('owner'), true)
})

test('creations that failed or were not attempted are not outstanding', () => {
  const expectations = new Expectations()
  expectations.expectCreations('owner', 8)
  expectations.creationObserved('owner')
  expectations.creationObserved('owner', 7)
  assert.equal(expectations.satisfied('owner'), true)
})

test('a deletion counts once: when the pod gets a deletionTimestamp or when it is deleted', () => {
  const expectations = new Expectations()
  expectations.expectDeletions('owner', ['a', 'b'])
  const marked = pod('a', { deletionTimestamp: '2026-01-01T00:00:00Z' })
  expectations.observe(marked, pod('a'))
  expectations.observe(undefined, marked)
  assert.equal(expectations.satisfied('owner'), false)
  expectations.observe(undefined, pod('b'))
  assert.equal(expectations.satisfied('owner'), true)
})

test('a deletion is pending until it is observed or has failed', () => {
  const expectations = new Expectations()
  expectations.expectDeletions('owner', ['a', 'b'])
  expectations.deletionObserved('owner', 'b')
  const pending = (): string[] => [...expectations.pendingDeletions('owner')]
  assert.deepEqual(pending(), ['a'])
  expectations.observe(undefined, pod('a'))
  assert.deepEqual(pending(), [])
})

test('a replacement with the same name counts as one deletion and one creation', () => {
  const expectations = new Expectations()
  expectations.expectDeletions('owner', ['a'])
  expectations.observe(pod('b'), pod('a'))
  assert.equal(expectations.satisfied('owner'), true)
  expectations.expectCreations('owner', 1)
  expectations.observe(pod('c'), pod('b'))
  assert.equal(expectations.satisfied('owner'), true)
})

test('expectations expire after five minutes', () => {
  let now = 0
  const expectations = new Expectations(() => now)
  expectations.expectCreations('owner', 1)
  now = expectationsExpireMs
  assert.equal(expectations.satisfied('owner'), false)
  now++
  assert.equal(expectations.satisfied('owner'), true)
})
