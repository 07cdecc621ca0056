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

test('a write is outstanding until the cache has that version or a newer one', () => {
  const writes = new OwnWrites()
  writes.recordWrite('owner', object('a', 7))
  assert.ok(!writes.areObserved('owner', []))
  assert.ok(!writes.areObserved('owner', [object('a', 6)]))
  assert.ok(writes.areObserved('another', []))
  writes.observe('owner', object('a', 6), undefined)
  assert.ok(!writes.areObserved('owner', []))
  writes.observe('owner', object('a', 8), object('a', 6))
  assert.ok(writes.areObserved('owner', []))
})

test('a watch event may arrive before the response to the write', () => {
  const writes = new OwnWrites()
  writes.observe('owner', object('a', 7), undefined)
  writes.recordWrite('owner', object('a', 7))
  assert.ok(writes.areObserved('owner', [object('a', 7)]))
})

test('writes to deleted objects are not outstanding, and all writes expire', () => {
  let now = 0
  const writes = new OwnWrites(() => now)
  writes.recordWrite('owner', object('a', 7))
  writes.recordWrite('owner', object('b', 8))
  writes.observe('owner', undefined, object('a', 7))
  assert.ok(!writes.areObserved('owner', []))
  now = expectationsExpireMs + 1
  assert.ok(writes.areObserved('owner', []))
  writes.recordWrite('owner', object('a', 9))
  writes.forget('owner')
  assert.ok(writes.areObserved('owner', []))
})

test('a write without a response may have succeeded and needs a refresh', () => {
  const writes = new OwnWrites()
  const refusal = conflict({ group: 'apps', name: 'replicasets' }, 'a', 'no')
  writes.recordFailure('owner', refusal)
  assert.ok(!writes.needsRefresh('owner'))
  // The conflict may be with our own first attempt.
  refusal.cause = new Error('the response to the first request was lost')
  writes.recordFailure('another', refusal)
  assert.ok(writes.needsRefresh('another'))
  writes.recordFailure('owner', new Error('the connection was closed'))
  assert.ok(writes.needsRefresh('owner'))
  writes.recordRefresh('owner', [object('a', 7)])
  assert.ok(!writes.needsRefresh('owner'))
  assert.ok(!writes.areObserved('owner', [object('a', 6)]))
  assert.ok(writes.areObserved('owner', [object('a', 7)]))
})
