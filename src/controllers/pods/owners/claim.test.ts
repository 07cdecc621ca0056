import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, ObjectMeta } from '../../../machinery/object.ts'
import { claimVerdict } from './claim.ts'

const owner = (more: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'n', name: 'r', uid: 'r', ...more },
})
const pod = (controller?: string, more: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'n',
    name: 'p',
    ...(controller && {
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: controller, uid: controller, controller: true },
      ],
    }),
    ...more,
  },
})
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }

test('a controller keeps an object that matches and releases one that no longer does', () => {
  assert.equal(claimVerdict(pod('r'), owner(), true), 'keep')
  assert.equal(claimVerdict(pod('r', deleted), owner(), true), 'keep')
  assert.equal(claimVerdict(pod('r'), owner(), false), 'release')
  assert.equal(claimVerdict(pod('other'), owner(), true), 'ignore')
})

test('a matching orphan is adopted unless it is deleted or in another namespace', () => {
  assert.equal(claimVerdict(pod(), owner(), true), 'adopt')
  assert.equal(claimVerdict(pod(), owner(), false), 'ignore')
  assert.equal(claimVerdict(pod(undefined, deleted), owner(), true), 'ignore')
  assert.equal(claimVerdict(pod(undefined, { namespace: 'other' }), owner(), true), 'ignore')
})

test('a deleted owner keeps its objects and neither adopts nor releases any', () => {
  assert.equal(claimVerdict(pod('r'), owner(deleted), true), 'keep')
  assert.equal(claimVerdict(pod('r'), owner(deleted), false), 'ignore')
  assert.equal(claimVerdict(pod(), owner(deleted), true), 'ignore')
})
