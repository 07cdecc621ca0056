import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import { conflict } from '../../../machinery/status-error.ts'
import { expectationsExpireMs } from './expectations.ts'
import { OwnWrites } from './own-writes.ts'

const object = (uid: string, resourceVersion: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: uid, uid, resourceVersion: `${resourceVersion}` },
})

test('what was written is awaited until the cache shows it, or something newer', () => {
  const writes = new OwnWrites()
  writes.wrote('owner', object('a', 7))
  assert.ok(!writes.areSeen('owner', []))
  assert.ok(!writes.areSeen('owner', [object('a', 6)]))
  assert.ok(writes.areSeen('another', []))
  writes.observe('owner', object('a', 6), undefined)
  assert.ok(!writes.areSeen('owner', []))
  writes.observe('owner', object('a', 8), object('a', 6))
  assert.ok(writes.areSeen('owner', []))
})

test('a watch may be faster than the answer to the write', () => {
  const writes = new OwnWrites()
  writes.observe('owner', object('a', 7), undefined)
  writes.wrote('owner', object('a', 7))
  assert.ok(writes.areSeen('owner', [object('a', 7)]))
})

test('what has gone is not awaited, nor anything for ever', () => {
  let now = 0
  const writes = new OwnWrites(() => now)
  writes.wrote('owner', object('a', 7))
  writes.wrote('owner', object('b', 8))
  writes.observe('owner', undefined, object('a', 7))
  assert.ok(!writes.areSeen('owner', []))
  now = expectationsExpireMs + 1
  assert.ok(writes.areSeen('owner', []))
  writes.wrote('owner', object('a', 9))
  writes.forget('owner')
  assert.ok(writes.areSeen('owner', []))
})

test('what nobody answered may be written: the server is asked', () => {
  const writes = new OwnWrites()
  const refusal = conflict({ group: 'apps', name: 'replicasets' }, 'a', 'no')
  writes.failed('owner', refusal)
  assert.ok(!writes.isUnsure('owner'))
  // It may be our own write that we were too late for.
  refusal.cause = new Error('the answer to the first sending was lost')
  writes.failed('another', refusal)
  assert.ok(writes.isUnsure('another'))
  writes.failed('owner', new Error('the connection was closed'))
  assert.ok(writes.isUnsure('owner'))
  writes.found('owner', [object('a', 7)])
  assert.ok(!writes.isUnsure('owner'))
  assert.ok(!writes.areSeen('owner', [object('a', 6)]))
  assert.ok(writes.areSeen('owner', [object('a', 7)]))
})
